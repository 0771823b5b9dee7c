/* A block with its size in front and a mark behind it: the size is a number that is added to the block's address, and no pointer itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct block { size_t size; struct block *next; };
extern uint8_t mark[8];
void out_of_memory(void) __attribute__((noreturn));

void *get_block(size_t size)
{
    struct block *block = malloc(sizeof *block + size + sizeof mark);

    if (!block)
        out_of_memory();
    memset(block, 0, sizeof *block + size + sizeof mark);
    block->size = size;
    memcpy((uint8_t *)(block + 1) + size, mark, sizeof mark);
    return block + 1;
}

struct pair { int one, two; };

struct pair *new_pair(int one) //~ clean
{
    struct pair *pair = get_block(sizeof *pair);

    pair->one = one;
    return pair;
}

char *copy(const char *text) //~ clean
{
    size_t size = text ? strlen(text) + 1 : 0;
    char *to = get_block(size);

    if (size)
        memcpy(to, text, size);
    return to;
}

/* A number that is cast to a pointer is one. */
int first_at(unsigned long address)
{
    struct pair *pair = (struct pair *)address;

    if (!pair)
        return pair->one; //~ null/dereference
    return pair->two;
}
