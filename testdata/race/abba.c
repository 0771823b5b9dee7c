//~ race/deadlock
//~ FIXED clean
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static int moved;

static void *left(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    moved++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return NULL;
}

static void *right(void *unused)
{
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
#else
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
#endif
    moved--;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return NULL;
}

int main(void)
{
    pthread_t l, r;
    pthread_create(&l, NULL, left, NULL);
    pthread_create(&r, NULL, right, NULL);
    pthread_join(l, NULL);
    pthread_join(r, NULL);
    return 0;
}
