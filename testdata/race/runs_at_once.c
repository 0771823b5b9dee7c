//~ race/sequential
//~ FIXED clean
// If the new thread runs at once, it reads what its creator has not set up yet: an order without any interleaving.
#include <assert.h>
#include <pthread.h>

static int level;

static void *reader(void *unused)
{
    assert(level == 1); //~ here
    return unused;
}

int main(void)
{
    pthread_t thread;
#ifdef FIXED
    level = 1;
#endif
    pthread_create(&thread, NULL, reader, NULL);
    level = 1;
    pthread_join(thread, NULL);
    return 0;
}
