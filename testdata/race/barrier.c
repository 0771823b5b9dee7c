//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>

static pthread_barrier_t barrier;
static int parts[2];

static void *worker(void *argument)
{
    int me = *(int *)argument;
#ifndef FIXED
    pthread_barrier_wait(&barrier);
    parts[me] = 1;
#else
    parts[me] = 1;
    pthread_barrier_wait(&barrier);
#endif
    assert(parts[0] + parts[1] == 2 || me == 1);
    return NULL;
}

int main(void)
{
    static int numbers[2] = { 0, 1 };
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
