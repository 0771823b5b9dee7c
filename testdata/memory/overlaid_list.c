// A list whose head and tail are two nodes that overlap: its first pointer is `head` of the list and `next` of a node. Taking a node out
// changes it, as the node before the first one.

#include <stdlib.h>

struct node {
    struct node *next, *prev;
};

union list {
    struct {
        struct node head_node;
        void *head_padding;
    };
    struct {
        void *tail_padding;
        struct node tail_node;
    };
    struct {
        struct node *head;
        struct node *null;
        struct node *tail;
    };
};

struct job {
    struct node node;
    int number;
};

struct worker {
    int number;
    union list jobs;
};

static void take_out(struct node *node)
{
    struct node *before = node->prev;
    struct node *behind = node->next;
    before->next = behind;
    behind->prev = before;
    node->next = NULL;
    node->prev = NULL;
}

void drop_jobs(struct worker *worker)
{
    struct job *job;
    while (job = (void *)worker->jobs.head, job->node.next) { //~ note heap/use-after-free //~ note null/dereference
        take_out(&job->node);
        free(job);
    }
}

/* It stays in the list. */
int drop_first_job(struct worker *worker)
{
    struct job *job = (struct job *)worker->jobs.head;
    free(job);
    return ((struct job *)worker->jobs.head)->number; //~ heap/use-after-free
}
