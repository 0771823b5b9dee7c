// A place whose address is passed to a function of which nothing is known holds another pointer afterwards.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct context {
    int number;
    char *result;
};

static struct context *context;

int fetch(int number, char **result);
int note(int number);

char again(void) //~ clean
{
    if (context->result) {
        free(context->result);
        context->result = NULL;
    }
    if (fetch(context->number, &context->result) < 0)
        return 0;
    return context->result[0];
}

char never_again(void)
{
    if (context->result) {
        free(context->result);
        context->result = NULL;
    }
    if (note(context->number) < 0)
        return 0;
    return context->result[0]; //~ certain null/dereference
}

// A thread finds what is in the variable whose address it gets.
struct job {
    int number;
    int fd;
};

void *work(void *job);

int start(void) //~ clean
{
    struct job job;
    pthread_t thread;

    job.fd = open("input", 0);
    if (job.fd < 0)
        return -1;
    if (pthread_create(&thread, NULL, work, &job)) {
        close(job.fd);
        return -1;
    }
    pthread_join(thread, NULL);
    close(job.fd);
    return 0;
}
