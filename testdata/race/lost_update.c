//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *unused)
{
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
#else
    counter++;
#endif
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 2);
    return 0;
}
