//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>

static int flag1, flag2, x;

static void *thr1(void *arg)
{
    flag1 = 1;
    while (flag2 >= 3)
        ;
    flag1 = 3;
    if (flag2 == 1) {
        flag1 = 2;
        while (flag2 != 4)
            ;
    }
    flag1 = 4;
    while (flag2 >= 2)
        ;
    x = 0;
    assert(x <= 0);
    flag1 = 0;
    return 0;
}

static void *thr2(void *arg)
{
    flag2 = 1;
#ifdef FIXED
    while (flag1 >= 3)
        ;
#endif
    flag2 = 3;
    if (flag1 == 1) {
        flag2 = 2;
        while (flag1 != 4)
            ;
    }
    flag2 = 4;
#ifdef FIXED
    while (2 <= flag1 && flag1 <= 3)
        ;
    if (flag1 == 4)
        while (flag1 != 0)
            ;
#endif
    x = 1;
    assert(x >= 1);
#ifdef FIXED
    while (2 <= flag1 && flag1 <= 3)
        ;
#endif
    flag2 = 0;
    return 0;
}

int main(void)
{
    pthread_t t1, t2;
    pthread_create(&t1, 0, thr1, 0);
    pthread_create(&t2, 0, thr2, 0);
    pthread_join(t1, 0);
    pthread_join(t2, 0);
    return 0;
}
