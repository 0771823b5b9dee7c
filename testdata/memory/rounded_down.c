// An address that is rounded down to the beginning of its page lies in the same block.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_mask(void)
{
    static size_t mask;
    if (!mask)
        mask = sysconf(_SC_PAGESIZE) - 1;
    return mask;
}

static const char *map_file(FILE *file, off_t start, off_t length)
{
    size_t mask = page_mask();
    off_t aligned = start & ~(off_t)mask;
    size_t before = start - aligned;
    const char *p = mmap(NULL, (length + before + mask) & ~mask, PROT_READ, MAP_SHARED, fileno(file), aligned);
    return p == MAP_FAILED ? NULL : p + before;
}

static void unmap_file(const void *p, size_t length)
{
    size_t mask = page_mask();
    uintptr_t aligned = (uintptr_t)p & ~(uintptr_t)mask;
    size_t before = (uintptr_t)p - aligned;
    munmap((void *)aligned, (length + before + mask) & ~mask);
}

int first_of(FILE *file, off_t at, off_t length) //~ clean
{
    const char *p = map_file(file, at, length);
    if (!p)
        return -1;
    int first = *p;
    unmap_file(p, length);
    return first;
}

int first_left_mapped(FILE *file, off_t at, off_t length)
{
    const char *p = map_file(file, at, length); //~ heap/leak
    if (!p)
        return -1;
    return *p;
}

// A mark in the lowest bit of a pointer.
struct node {
    struct node *next;
    int value;
};

int value_behind(struct node *marked) //~ clean
{
    struct node *node = (struct node *)((uintptr_t)marked & ~(uintptr_t)1);
    return node ? node->value : 0;
}

int value_behind_unasked(void)
{
    struct node *made = malloc(sizeof(*made));
    struct node *node = (struct node *)((uintptr_t)made & ~(uintptr_t)1);
    if (!node)
        puts("none");
    int value = node->value; //~ null/dereference
    free(made);
    return value;
}

// An address that is rounded up: where the block begins is kept.
struct aligned {
    unsigned before;
    char bytes[100];
};

struct aligned *made_aligned(void) //~ clean
{
    char *block = malloc(sizeof(struct aligned) + 31);
    struct aligned *made;
    if (!block)
        return NULL;
    made = (struct aligned *)(((uintptr_t)block + 31) & ~(uintptr_t)31);
    made->before = (char *)made - block;
    if (getpid() == 1) {
        free((char *)made - made->before);
        return NULL;
    }
    return made;
}
