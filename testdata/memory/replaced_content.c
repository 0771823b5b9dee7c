// What lies in a record that a callee has got from somewhere is freed and replaced: who looks there behind the call finds what it was replaced with.
#include <stdlib.h>
#include <string.h>

struct store {
    char *path;
    int count;
};

struct repository {
    struct store *store;
};

struct store *get_store(void);

static int set_up(struct repository *repository, const char *path)
{
    struct store *store = get_store();
    if (!store)
        return -1;
    repository->store = store;
    free(store->path);
    store->path = strdup(path);
    return 0;
}

int set_up_and_empty(struct repository *repository, const char *path) //~ clean
{
    if (set_up(repository, path) < 0)
        return -1;
    free(repository->store->path);
    repository->store->path = NULL;
    return 0;
}

static int take_apart(struct repository *repository)
{
    struct store *store = get_store();
    if (!store)
        return -1;
    repository->store = store;
    free(store->path);
    return 0;
}

int taken_apart_twice(struct repository *repository)
{
    if (take_apart(repository) < 0)
        return -1;
    free(repository->store->path); //~ known-miss heap/double-free
    return 0;
}
