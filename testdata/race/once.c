//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>

static pthread_once_t control = PTHREAD_ONCE_INIT;
static int initialised, times;

static void initialise(void)
{
    times++;
    initialised = 1;
}

static void *user(void *unused)
{
    (void)unused;
#ifdef FIXED
    pthread_once(&control, initialise);
#else
    if (!initialised)
        initialise();
#endif
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, user, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(times == 1);
    return 0;
}
