// A macro that yields null for some of its arguments serves all who use it: that one of them follows what it yields says nothing of those.
#include <stddef.h>

struct handle {
    struct object *object;
};

struct object {
    int size;
};

extern struct handle *const none;
extern int parse(const char *text, struct handle **handle);

#define OBJECT(handle) (((handle) == none) ? NULL : (handle)->object)

int size(const char *text) //~ clean
{
    struct object *object;
    struct handle *handle;

    if (parse(text, &handle) < 0)
        return -1;
    object = (struct object *) OBJECT(handle);
    return object->size;
}

int size_unless_none(const char *text)
{
    struct object *object;
    struct handle *handle;

    if (parse(text, &handle) < 0)
        return -1;
    object = (struct object *) ((handle == none) ? NULL : handle->object);
    return object->size; //~ null/dereference
}

int size_if_wanted(const char *text, int wanted)
{
    struct object *object = NULL;
    struct handle *handle;

    if (parse(text, &handle) < 0)
        return -1;
    if (wanted)
        object = OBJECT(handle);
    return object->size; //~ null/dereference
}
