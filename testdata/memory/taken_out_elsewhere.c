// A function whose source is not there gets an element of a list, and then the element is freed: it has taken it out, and the list has
// another first element.

#include <stdlib.h>

struct task {
    struct task *next, *prev;
    int number;
};

struct queue {
    int length;
    struct task *first;
};

void take_out(struct task *task);

void drop_tasks(struct queue *queue)
{
    while (queue->first->number) { //~ note heap/use-after-free
        struct task *task = queue->first;
        take_out(task);
        free(task);
    }
}

static int numbers(const struct task *task)
{
    return task->number;
}

int drop_all_tasks(struct queue *queue)
{
    int sum = 0;
    while (queue->first->number) { //~ heap/use-after-free
        struct task *task = queue->first;
        sum += numbers(task);
        free(task);
    }
    return sum;
}
