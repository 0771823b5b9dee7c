//~ race/interleaved
//~ FIXED clean
// A thread waits in a loop for a flag that `main` sets too early.
#include <assert.h>
#include <pthread.h>

static int ready;
static int data;

static void *waiter(void *unused)
{
    while (ready == 0) {
    }
    assert(data == 1); //~ here
    return unused;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, waiter, 0);
#ifdef FIXED
    data = 1;
    ready = 1;
#else
    ready = 1;
    data = 1;
#endif
    pthread_join(a, 0);
    return 0;
}
