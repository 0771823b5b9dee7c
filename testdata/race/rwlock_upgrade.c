//~ race/deadlock
//~ FIXED clean
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value;

static void *updater(void *unused)
{
    (void)unused;
    pthread_rwlock_rdlock(&lock);
    if (value < 10) {
#ifdef FIXED
        pthread_rwlock_unlock(&lock);
#endif
        pthread_rwlock_wrlock(&lock);
        value++;
        pthread_rwlock_unlock(&lock);
    }
#ifndef FIXED
    pthread_rwlock_unlock(&lock);
#endif
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, updater, NULL);
    pthread_create(&b, NULL, updater, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
