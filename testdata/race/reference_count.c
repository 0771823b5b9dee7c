//~ race/interleaved
//~ FIXED clean
#include <pthread.h>
#include <stdlib.h>

struct object { int references; int data; };
static struct object *shared;

static void put(struct object *object)
{
#ifdef FIXED
    if (__atomic_sub_fetch(&object->references, 1, __ATOMIC_ACQ_REL) == 0)
        free(object);
#else
    object->references--;
    if (object->references == 0)
        free(object);
#endif
}

static void *user(void *object)
{
    ((struct object *)object)->data;
    put(object);
    return NULL;
}

int main(void)
{
    pthread_t one, two;
    shared = malloc(sizeof *shared);
    shared->references = 2;
    shared->data = 1;
    pthread_create(&one, NULL, user, shared);
    pthread_create(&two, NULL, user, shared);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
