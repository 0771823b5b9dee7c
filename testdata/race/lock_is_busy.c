//~ race/interleaved
//~ FIXED clean
// A thread that only tries to lock is told what the others do: none of them writes anything that it reads.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int rounds;

static void *worker(void *unused)
{
    pthread_mutex_lock(&lock);
    rounds++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *watcher(void *unused)
{
#ifdef FIXED
    if (pthread_mutex_trylock(&lock) != 0)
        return unused;
#else
    int error = pthread_mutex_trylock(&lock);
    assert(error == 0); //~ here
#endif
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, watcher, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
