/* The last user frees the object; whether it is the last is found out in one step, or in two. */
#include <pthread.h>
#include <stdlib.h>

struct object {
    int references;
    int value;
};

static struct object *shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct object *object_get(void)
{
    struct object *found;

    pthread_mutex_lock(&lock);
    found = shared;
    if (found)
        found->references++;
    pthread_mutex_unlock(&lock);
    return found;
}

void object_put(struct object *object)
{
    int left;

    pthread_mutex_lock(&lock);
    left = --object->references;
#ifdef FIXED
    if (left == 0)
        shared = NULL;
#endif
    pthread_mutex_unlock(&lock);
    if (left == 0) {
#ifndef FIXED
        pthread_mutex_lock(&lock);
        shared = NULL;
        pthread_mutex_unlock(&lock);
#endif
        free(object); //~ race/interleaved
    }
}

int object_value(void)
{
    struct object *object = object_get();
    int value;

    if (!object)
        return -1;
    value = object->value;
    object_put(object);
    return value;
}
