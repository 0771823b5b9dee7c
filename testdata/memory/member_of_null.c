// A callee that gets a null pointer does nothing: what its argument has at an offset is no block that it ends.
#include <stdlib.h>

struct picture {
    char *data;
};

struct handle {
    int flags;
    char text[4000];
    struct picture *picture;
};

extern int fill(struct handle *handle, const char *path);
extern int library_ready;

struct handle *handle_new(void)
{
    if (!library_ready)
        return NULL;
    return calloc(1, sizeof(struct handle));
}

void handle_close(struct handle *handle)
{
    if (handle == NULL)
        return;
    free(handle->picture);
    handle->picture = NULL;
}

int handle_open(struct handle *handle, const char *path)
{
    if (handle == NULL)
        return -1;
    handle_close(handle);
    return fill(handle, path);
}

void handle_delete(struct handle *handle)
{
    if (handle != NULL) {
        handle_close(handle);
        free(handle);
    }
}

int show_all(int count, char **paths) //~ clean
{
    struct handle *handle = handle_new();
    int i, failed = 0;
    for (i = 0; i < count; i++) {
        if (handle_open(handle, paths[i]) != 0) {
            failed++;
            continue;
        }
    }
    handle_delete(handle);
    return failed;
}

void careless_close(struct handle *handle)
{
    if (handle == NULL)
        return;
    free(handle->picture);
}

void close_twice(void)
{
    struct handle *handle = handle_new();
    if (!handle)
        return;
    handle->picture = malloc(sizeof(struct picture));
    careless_close(handle);
    careless_close(handle); //~ heap/double-free
    free(handle);
}
