//~ clean
// A loop that runs as often as the environment wants.
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

static int state;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *unused)
{
    while (__VERIFIER_nondet_int()) {
        pthread_mutex_lock(&lock);
        state = 5;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *reader(void *unused)
{
    pthread_mutex_lock(&lock);
    if (state != 0 && state != 5)
        reach_error();
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
