//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <stdatomic.h>
#include <threads.h>

#ifdef FIXED
static _Atomic int hits;
#else
static int hits;
#endif

static int worker(void *unused)
{
    (void)unused;
    hits += 2;
    return 0;
}

int main(void)
{
    thrd_t threads[2];
    for (int i = 0; i < 2; i++)
        thrd_create(&threads[i], worker, NULL);
    for (int i = 0; i < 2; i++)
        thrd_join(threads[i], NULL);
    assert(hits == 4);
    return 0;
}
