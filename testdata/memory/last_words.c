// What a function says before it ends the program, because it has got no memory, is no use of what its callers have ended.

#include <stdio.h>
#include <stdlib.h>

static char *table;
static size_t table_size;

static void complain(const char *text)
{
    if (table)
        fprintf(stderr, "%s %c\n", text, table[0]);
    exit(1);
}

void *get_memory(size_t size)
{
    void *block = malloc(size);
    if (block == NULL)
        complain("no memory");
    return block;
}

void grow(size_t size)
{
    if (size <= table_size)
        return;
    free(table);
    table = get_memory(size); //~ clean
    table_size = size;
}

/* A function that uses it and comes back. */
static int first(void)
{
    return table ? table[0] : 0;
}

int shrink(void)
{
    free(table);
    return first(); //~ heap/use-after-free
}
