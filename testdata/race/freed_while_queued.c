//~ race/sequential
//~ FIXED clean
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct work { int value; };
static struct work *queue;
static int result;
static sem_t queued, taken;

static void *worker(void *unused)
{
    (void)unused;
    sem_wait(&queued);
    result = queue->value;
    sem_post(&taken);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    sem_init(&queued, 0, 0);
    sem_init(&taken, 0, 0);
    pthread_create(&thread, NULL, worker, NULL);
    queue = malloc(sizeof *queue);
    queue->value = 3;
    sem_post(&queued);
#ifdef FIXED
    sem_wait(&taken);
#endif
    free(queue);
    pthread_join(thread, NULL);
    return 0;
}
