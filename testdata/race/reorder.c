//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>

static int a, b;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *setter(void *unused)
{
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    a = 1;
    b = -1;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

static void *checker(void *unused)
{
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    assert((a == 0 && b == 0) || (a == 1 && b == -1));
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, setter, NULL);
    pthread_create(&threads[1], NULL, setter, NULL);
    pthread_create(&threads[2], NULL, checker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
