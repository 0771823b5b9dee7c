// A function that ends the program where there is no memory returns null only if it is asked for no bytes, which is no failure.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void die(void)
{
    abort();
}

void *resize(void *old, size_t size)
{
    void *made = realloc(old, size);
    if (!made && (!old || size))
        die();
    return made;
}

// Makes room for more elements: half as many again as there are.
void *enlarge(void *old, ptrdiff_t *count, ptrdiff_t more, ptrdiff_t size)
{
    ptrdiff_t before = *count, after, bytes;
    if (__builtin_add_overflow(before, before >> 1, &after))
        after = PTRDIFF_MAX;
    if (__builtin_mul_overflow(after, size, &bytes)) {
        after = PTRDIFF_MAX / size;
        bytes = PTRDIFF_MAX - PTRDIFF_MAX % size;
    }
    if (after - before < more && (__builtin_add_overflow(before, more, &after) || __builtin_mul_overflow(after, size, &bytes)))
        die();
    old = resize(old, bytes);
    *count = after;
    return old;
}

struct element {
    char *name;
    long number;
};

struct element *add(struct element *all, ptrdiff_t *count, ptrdiff_t used) //~ clean
{
    if (*count == used)
        all = enlarge(all, count, 1, sizeof *all);
    all[used].name = NULL;
    return all;
}

char *blanks(char *line, int width) //~ clean
{
    line = resize(line, width);
    memset(line, ' ', width - 1);
    return line;
}

static void *try_resize(void *old, size_t size)
{
    return realloc(old, size);
}

char *dots(char *line, int width)
{
    line = try_resize(line, width);
    memset(line, '.', width - 1); //~ null/unchecked-result
    return line;
}
