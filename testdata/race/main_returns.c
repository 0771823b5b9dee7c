//~ race/sequential
//~ FIXED clean
// A thread may fail before `main` returns and the process ends with it.
#include <assert.h>
#include <pthread.h>

static int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *unused)
{
    pthread_mutex_lock(&lock);
#ifndef FIXED
    assert(ready); //~ here
#endif
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    return 0;
}
