// A queue that a callee has filled is emptied: what is read from its head in the next round is another element.
#include <stdlib.h>

struct job {
    struct job *next, *prev;
    int size;
};

struct jobs {
    struct job *next, *prev;
    int count;
};

static struct job *first_of(struct jobs *jobs)
{
    struct job *job = jobs->next;
    struct job *next, *prev;

    if (job == (struct job *)jobs)
        return 0;
    jobs->count--;
    next = job->next;
    prev = job->prev;
    job->next = job->prev = 0;
    next->prev = prev;
    prev->next = next;
    return job;
}

static struct job *copy_of(const struct job *job, int size)
{
    struct job *copy = malloc(sizeof(*copy));

    if (copy)
        copy->size = job->size - size;
    return copy;
}

void split(const struct job *whole, struct jobs *jobs, const unsigned char *sizes)
{
    int done = 0;

    while (done < whole->size) {
        int size = sizes[done];
        struct job *part;

        if (size == 0 || size > whole->size - done)
            goto out;
        done += size;
        if (size == 7)
            continue;
        part = copy_of(whole, done);
        if (!part)
            goto out;
        part->next = (struct job *)jobs;
        part->prev = jobs->prev;
        jobs->prev->next = part;
        jobs->prev = part;
        jobs->count++;
    }
    return;
out:
    while (jobs->next != (struct job *)jobs)
        free(first_of(jobs)); //~ note heap/use-after-free //~ note null/dereference
}

int is_good(const struct job *job);

int work(const struct job *whole, const unsigned char *sizes)
{
    struct jobs jobs;
    int good = 0;

    jobs.next = jobs.prev = (struct job *)&jobs;
    jobs.count = 0;
    split(whole, &jobs, sizes);
    while (jobs.next != (struct job *)&jobs) {
        struct job *job = first_of(&jobs); //~ note heap/use-after-free //~ note null/dereference //~ note null/unchecked-result

        if (is_good(job))
            good++;
        free(job);
    }
    return good;
}

int work_without_taking_them_off(const struct job *whole, const unsigned char *sizes)
{
    struct jobs jobs;
    int good = 0;

    jobs.next = jobs.prev = (struct job *)&jobs;
    jobs.count = 0;
    split(whole, &jobs, sizes);
    while (jobs.next != (struct job *)&jobs) {
        struct job *job = jobs.next;

        good += job->size; //~ certain heap/use-after-free //~ note null/dereference
        free(job);
    }
    return good;
}
