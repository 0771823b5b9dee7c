// What is called because a pointer is null may end the program. Of a function that a pointer names this is not known.

#include <stdlib.h>

struct chunk {
    struct chunk *before;
    char *limit;
};

struct pool {
    struct chunk *chunk;
    void (*failed)(void);
    void *(*get)(size_t size);
};

void add_chunk(struct pool *pool, size_t size)
{
    struct chunk *chunk = NULL;
    if (size > sizeof *chunk)
        chunk = pool->get(size);
    if (!chunk)
        (*pool->failed)();
    chunk->before = pool->chunk; //~ note null/dereference
    pool->chunk = chunk;
}

void add_chunk_silently(struct pool *pool, size_t size)
{
    struct chunk *chunk = NULL;
    if (size > sizeof *chunk)
        chunk = pool->get(size);
    if (!chunk)
        pool->chunk = NULL;
    chunk->before = pool->chunk; //~ null/dereference
    pool->chunk = chunk;
}

// A pointer that is null for two reasons is told of once.
#include <stdio.h>

int write_to(const char *name, int fd)
{
    FILE *file = NULL;
    if (fd != -1)
        file = fdopen(fd, "w");
    if (file == NULL)
        puts(name);
    int failed = setvbuf(file, NULL, _IOFBF, 1 << 20); //~ null/dereference
    fclose(file);
    return failed;
}
