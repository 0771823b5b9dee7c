//~ race/sequential
//~ FIXED clean
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int data;

static void *add_one(void *unused)
{
    pthread_mutex_lock(&lock);
    data++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *add_two(void *unused)
{
    pthread_mutex_lock(&lock);
    data += 2;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *check(void *unused)
{
    pthread_mutex_lock(&lock);
#ifdef FIXED
    assert(data <= 3);
#else
    assert(data < 3);
#endif
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, 0, add_one, 0);
    pthread_create(&b, 0, add_two, 0);
    pthread_create(&c, 0, check, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
