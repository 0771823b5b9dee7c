//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct config { int size; };
static struct config *volatile current;

static void *user(void *unused)
{
    (void)unused;
    if (current != NULL)
        assert(current->size == 42);
    return NULL;
}

static void *maker(void *unused)
{
    struct config *made = malloc(sizeof *made);
    (void)unused;
    made->size = 0;
#ifdef FIXED
    made->size = 42;
    current = made;
#else
    current = made;
    made->size = 42;
#endif
    return NULL;
}

int main(void)
{
    pthread_t u, m;
    pthread_create(&m, NULL, maker, NULL);
    pthread_create(&u, NULL, user, NULL);
    pthread_join(m, NULL);
    pthread_join(u, NULL);
    return 0;
}
