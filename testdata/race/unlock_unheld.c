//~ race/interleaved
//~ FIXED clean
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int owner_known;

static void *one(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    owner_known = 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *two(void *unused)
{
    (void)unused;
#ifdef FIXED
    if (pthread_mutex_trylock(&lock) == 0)
        pthread_mutex_unlock(&lock);
#else
    pthread_mutex_trylock(&lock);
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
