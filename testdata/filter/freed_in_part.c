// A callee that fails has freed what it got on one of the ways to that, and left it alone on the others: its callers cannot know whether to free it.
#include <stdlib.h>

struct entry {
    struct entry *next;
    void *data;
};

struct list {
    int busy, kept;
    struct entry *first, *spare;
};

extern struct entry *place_in(struct list *list, int number);

static int append(struct list *list, void *data)
{
    struct entry *entry, *before;
    if (list->busy)
        return -1;
    if (list->kept > 0) {
        entry = list->spare;
        list->kept--;
    } else {
        entry = malloc(sizeof *entry);
        if (entry == NULL)
            return -1;
    }
    entry->data = data;
    before = place_in(list, list->kept);
    if (before == NULL) {
        free(entry->data);
        free(entry);
        return -1;
    }
    entry->next = before->next;
    before->next = entry;
    return 1;
}

int add_or_free(struct list *list, int value)
{
    int *block = malloc(sizeof *block);
    if (block == NULL)
        return -1;
    *block = value;
    if (append(list, block) < 0) {
        free(block); //~ conc heap/double-free
        return -1;
    }
    return 0;
}

int add(struct list *list, int value)
{
    int *block = malloc(sizeof *block);
    if (block == NULL)
        return -1;
    *block = value;
    if (append(list, block) < 0)
        return -1;
    return 0;
}
