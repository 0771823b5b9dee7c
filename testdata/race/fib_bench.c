//~ race/interleaved
//~ FIXED clean
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void reach_error(void);
#include <pthread.h>

int i = 1, j = 1;
#define ROUNDS 3

void *first(void *unused)
{
    for (int k = 0; k < ROUNDS; k++)
        i += j;
    return unused;
}

void *second(void *unused)
{
    for (int k = 0; k < ROUNDS; k++)
        j += i;
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
#ifdef FIXED
    if (i > 21 || j > 21)       /* the eighth Fibonacci number bounds both */
#else
    if (i >= 21 || j >= 21)
#endif
        reach_error();
    return 0;
}
