//~ race/interleaved
//~ FIXED clean
// One thread ends the process; the other two lose an update before it does.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int hits;
static pthread_t threads[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *hit(void *unused)
{
    pthread_mutex_lock(&lock);
    int before = hits;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    hits = before + 1;
    assert(hits == before + 1 && hits > 0);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *judge(void *unused)
{
    (void)unused;
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert(hits == 2); //~ here
    exit(0);
}

int main(void)
{
    pthread_t last;
    pthread_create(&threads[0], NULL, hit, NULL);
    pthread_create(&threads[1], NULL, hit, NULL);
    pthread_create(&last, NULL, judge, NULL);
    pthread_exit(NULL);
}
