//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>

#ifdef FIXED
static _Thread_local int depth;
#else
static int depth;
#endif

static void *worker(void *unused)
{
    (void)unused;
    depth++;
    assert(depth == 1);
    depth--;
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
