//~ race/interleaved
//~ FIXED clean
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
#include <assert.h>
#include <pthread.h>

int w, r, x, y;

void __VERIFIER_atomic_take_write_lock(void)
{
#ifdef FIXED
    __VERIFIER_assume(w == 0 && r == 0);
#else
    __VERIFIER_assume(w == 0);
#endif
    w = 1;
}

void __VERIFIER_atomic_take_read_lock(void)
{
    __VERIFIER_assume(w == 0);
    r = r + 1;
}

void __VERIFIER_atomic_release_read_lock(void)
{
    r = r - 1;
}

void *writer(void *arg)
{
    __VERIFIER_atomic_take_write_lock();
    x = 3;
    w = 0;
    return 0;
}

void *reader(void *arg)
{
    __VERIFIER_atomic_take_read_lock();
    int l = x;
    y = l;
    assert(y == x);
    __VERIFIER_atomic_release_read_lock();
    return 0;
}

int main(void)
{
    pthread_t t1, t2;
    pthread_create(&t1, 0, writer, 0);
    pthread_create(&t2, 0, reader, 0);
    pthread_join(t1, 0);
    pthread_join(t2, 0);
    return 0;
}
