// A function that returns null where a call that makes something has failed, as its number says, fails itself.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *aligned(size_t size)
{
    void *block;
    int error = posix_memalign(&block, 64, size);
    if (error)
        block = NULL;
    return block;
}

int first_of(size_t size)
{
    char *block = aligned(size);
    int first = block[0]; //~ null/unchecked-result
    free(block);
    return first;
}

int first_if_there(size_t size) //~ clean
{
    char *block = aligned(size);
    int first;
    if (!block)
        return -1;
    first = block[0];
    free(block);
    return first;
}

// Nothing is asked of it: what is not there has another meaning.
static const char *named(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], name))
            return names[i];
    return NULL;
}

int first_of_named(const char *const *names)
{
    return named(names, 2, "a")[0]; //~ note null/unchecked-result
}
