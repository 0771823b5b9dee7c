//~ race/interleaved
//~ FIXED clean
// `main` waits in a loop until both threads are done, and then in one without end.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;
static int count;

static void *worker(void *unused)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    int seen = count;
    count = seen + 1;
#ifndef FIXED
    pthread_mutex_lock(&lock);
#endif
    done++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    while (done < 2) {
    }
    assert(count == 2); //~ here
    for (;;) {
    }
}
