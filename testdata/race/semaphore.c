//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t permits;
static int inside;

static void *worker(void *unused)
{
    (void)unused;
    sem_wait(&permits);
    inside++;
    assert(inside == 1);
    inside--;
    sem_post(&permits);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
#ifdef FIXED
    sem_init(&permits, 0, 1);
#else
    sem_init(&permits, 0, 2);
#endif
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
