// What is freed and used by one variable is one object, whatever the memory is called that the variable's value was read from.
#include <stdlib.h>

struct buffer {
    char *data;
};
struct block {
    struct buffer *buffer;
    int size;
};
struct queue {
    int first, size;
    void **entries;
};

extern struct queue *to_writer;
extern int table[16];
void put(struct buffer *buffer);
void refill(struct queue *queue);
int write_out(const char *data);

static void *get(struct queue *queue)
{
    void *entry = queue->entries[queue->first + table[queue->first & 15]];
    queue->first = (queue->first + 1) % queue->size;
    return entry;
}

int used_after_free(void)
{
    struct block *block = get(to_writer);
    int written;
    put(block->buffer);
    free(block);
    written = write_out(block->buffer->data); //~ certain heap/use-after-free
    return written;
}

int used_before_free(void) //~ clean
{
    struct block *block = get(to_writer);
    int written;
    written = write_out(block->buffer->data);
    put(block->buffer);
    free(block);
    return written;
}

int the_next_one_is_used(void) //~ clean
{
    struct block *block = get(to_writer);
    free(block);
    refill(to_writer);
    block = get(to_writer);
    return block->size;
}

int freed_again(void)
{
    struct block *block = get(to_writer);
    free(block);
    refill(to_writer);
    free(block); //~ certain heap/double-free
    return 0;
}

/* What callees did to what the variable's value was read from, before it was read, does not matter either. */
struct part {
    struct part *next;
    int size;
};
struct section {
    struct part *head;
    struct buffer *rest;
};
extern struct section *sections[8];
extern int count;
void forget(struct buffer *rest);

static void release(void *block)
{
    if (block)
        free(block);
}

void all_parts_freed_twice(void)
{
    struct part *part;
    int i;

    for (i = 0; i < count; i++) {
        forget(sections[i]->rest);
        while (sections[i]->head) {
            part = sections[i]->head;
            sections[i]->head = sections[i]->head->next;
            release(part);
            release(part); //~ certain heap/double-free
        }
    }
}

void all_parts_freed(void) //~ clean
{
    struct part *part;
    int i;

    for (i = 0; i < count; i++) {
        forget(sections[i]->rest);
        while (sections[i]->head) {
            part = sections[i]->head;
            sections[i]->head = sections[i]->head->next;
            release(part);
        }
    }
}
