//~ race/interleaved
//~ FIXED clean
// Two threads look for the greatest of two inputs.
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void reach_error(void);

static int greatest = -2147483647 - 1;
static int numbers[2];

static void *look(void *argument)
{
    int own = numbers[*(int *)argument];
#ifdef FIXED
    __VERIFIER_atomic_begin();
#endif
    if (own > greatest)
        greatest = own;
#ifdef FIXED
    __VERIFIER_atomic_end();
#endif
    if (own > greatest)
        reach_error();
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    static int indices[2];
    for (int i = 0; i < 2; i++) {
        numbers[i] = __VERIFIER_nondet_int();
        indices[i] = i;
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, look, &indices[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
