//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

/* A lock made of one flag: a record in the C library, of which one byte changes. */
static atomic_flag busy = ATOMIC_FLAG_INIT;
static int hits;

static void *worker(void *unused)
{
    (void)unused;
#ifdef FIXED
    while (atomic_flag_test_and_set(&busy))
        ;
#else
    (void)atomic_flag_test_and_set(&busy);
#endif
    hits++;
    atomic_flag_clear(&busy);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(hits == 2);
    return 0;
}
