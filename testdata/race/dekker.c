//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>

static int flag1, flag2, turn, x;

static void *thr1(void *arg)
{
    flag1 = 1;
    while (flag2 >= 1) {
        if (turn != 0) {
            flag1 = 0;
            while (turn != 0)
                ;
            flag1 = 1;
        }
    }
    x = 0;
    assert(x <= 0);
    turn = 1;
    flag1 = 0;
    return 0;
}

static void *thr2(void *arg)
{
#ifdef FIXED
    flag2 = 1;
#endif
    while (flag1 >= 1) {
        if (turn != 1) {
            flag2 = 0;
            while (turn != 1)
                ;
            flag2 = 1;
        }
    }
    x = 1;
    assert(x >= 1);
    turn = 0;
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
