//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>

struct account { pthread_mutex_t lock; long balance; };
static struct account accounts[2] = {
    { PTHREAD_MUTEX_INITIALIZER, 100 },
    { PTHREAD_MUTEX_INITIALIZER, 100 },
};

static void *deposit(void *which)
{
    long wrong = (long)which;
#ifdef FIXED
    wrong = 0;
#endif
    pthread_mutex_lock(&accounts[wrong].lock);
    long now = accounts[0].balance;
    accounts[0].balance = now + 10;
    pthread_mutex_unlock(&accounts[wrong].lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, deposit, (void *)0);
    pthread_create(&b, NULL, deposit, (void *)1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(accounts[0].balance == 120);
    return 0;
}
