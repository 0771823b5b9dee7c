//~ race/interleaved
//~ FIXED clean
// A thread draws values until one of them is another one than the last.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int seed = 1;
static int users;

static int other_than(int last)
{
    int next;
    do {
        next = __VERIFIER_nondet_int();
    } while (next == last || next == 0);
    return next;
}

static void *draw(void *unused)
{
    pthread_mutex_lock(&lock);
    int last = seed;
    int next = other_than(last);
    assert(next != last);
    seed = next;
    users++;
    pthread_mutex_unlock(&lock);
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    int left = users;
    users = left - 1;
    assert(users >= 0); //~ here
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, draw, 0);
    pthread_create(&b, 0, draw, 0);
    draw(0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
