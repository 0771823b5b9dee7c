//~ race/sequential
// A thread makes threads: the last of them to run decides, and they may run in any order.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static char *text;

static void *allocate(void *unused)
{
    text = malloc(1);
    return unused;
}

static void *write_x(void *unused)
{
    *text = 'x';
    return unused;
}

static void *write_y(void *unused)
{
    *text = 'y';
    return unused;
}

static void *parent(void *unused)
{
    pthread_t first, second, third;
    pthread_create(&first, NULL, allocate, NULL);
    pthread_join(first, NULL);
    pthread_create(&second, NULL, write_y, NULL);
    pthread_create(&third, NULL, write_x, NULL);
    pthread_join(second, NULL);
    pthread_join(third, NULL);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, parent, NULL);
    pthread_join(thread, NULL);
    assert(*text == 'x');
    return 0;
}
