/* A block that has ended under its own name, with others of its kind that end before it. */
#include <stdlib.h>
#include <string.h>

struct estimator {
    double *steps;
    int used;
};

struct timer {
    struct estimator *delay;
    double *samples;
    int offset;
};

static void estimator_end(struct estimator *estimator)
{
    free(estimator->steps);
    free(estimator);
}

void member_after_the_record(struct timer *timer)
{
    free(timer->samples);
    free(timer);
    estimator_end(timer->delay); //~ certain heap/use-after-free
}

void member_before_the_record(struct timer *timer) //~ clean
{
    free(timer->samples);
    estimator_end(timer->delay);
    free(timer);
}

void member_twice(struct timer *timer)
{
    estimator_end(timer->delay);
    free(timer->samples);
    estimator_end(timer->delay); //~ certain heap/double-free //~ certain heap/use-after-free
    free(timer);
}

/* A constructor succeeds at times. */
static void *must(size_t size)
{
    void *block = size < 1000000 ? malloc(size) : NULL;
    if (!block)
        exit(1);
    return block;
}

int made_and_freed_twice(const int *values, unsigned count)
{
    int *numbers = must(count * sizeof *numbers);
    int sum = 0;
    for (unsigned i = 0; i < count; i++)
        numbers[i] = values[i];
    if (count)
        sum = numbers[0];
    free(numbers);
    free(numbers); //~ certain heap/double-free
    return sum;
}

int made_and_freed_once(const int *values, unsigned count) //~ clean
{
    int *numbers = must(count * sizeof *numbers);
    int sum = 0;
    for (unsigned i = 0; i < count; i++)
        numbers[i] = values[i];
    if (count)
        sum = numbers[0];
    free(numbers);
    return sum;
}
