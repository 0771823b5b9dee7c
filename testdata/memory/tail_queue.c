// A tail queue in the manner of BSD: the last pointer of an element leads to the pointer that leads to the element, be it in another one or in the head,
// which is no element.
#include <stdlib.h>
#include <string.h>

struct node {
    struct {
        struct node *next;
        struct node **previous;
    } link;
    char *text;
};

struct list {
    size_t count;
    struct {
        struct node *first;
        struct node **last;
    } nodes;
};

static void remove_node(struct list *list, struct node *node)
{
    if (node->link.next)
        node->link.next->link.previous = node->link.previous;
    else
        list->nodes.last = node->link.previous;
    *node->link.previous = node->link.next;
}

static void free_list(struct list *list)
{
    struct node *node = list->nodes.first;
    while (node) {
        remove_node(list, node); //~ note heap/use-after-free
        free(node->text); //~ note heap/double-free
        free(node);
        node = list->nodes.first;
    }
    free(list);
}

static struct list *split(char *text)
{
    struct list *list = malloc(sizeof *list);
    struct node *node;
    char *word;
    if (!list)
        return NULL;
    list->nodes.first = NULL;
    list->nodes.last = &list->nodes.first;
    list->count = 0;
    while ((word = strsep(&text, ",")) != NULL) {
        node = calloc(1, sizeof *node);
        if (!node || !(node->text = strdup(word))) {
            free(node);
            free_list(list);
            return NULL;
        }
        list->count++;
        node->link.next = NULL;
        node->link.previous = list->nodes.last;
        *list->nodes.last = node;
        list->nodes.last = &node->link.next;
    }
    return list;
}

size_t count(char *text) //~ clean
{
    struct list *list = split(text);
    size_t count;
    if (!list)
        return 0;
    count = list->count;
    free_list(list);
    return count;
}

size_t count_behind(char *text)
{
    struct list *list = split(text);
    if (!list)
        return 0;
    free_list(list);
    return list->count; //~ certain heap/use-after-free
}

// A ring: of one that is empty the head leads to itself, and the record around it is no element.
struct ring {
    struct ring *next, *before;
};

struct entry {
    int kind;
    struct ring ring;
    char *text;
};

struct table {
    int mode;
    struct ring entries;
};

#define ENTRY_OF(at) ((struct entry *)((char *)(at) - __builtin_offsetof(struct entry, ring)))

static struct table *make_table(int mode)
{
    struct table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->mode = mode;
    table->entries.next = table->entries.before = &table->entries;
    return table;
}

static void free_table(struct table *table)
{
    while (table->entries.next != &table->entries) {
        struct entry *entry = ENTRY_OF(table->entries.next);
        entry->ring.before->next = entry->ring.next; //~ note heap/use-after-free
        entry->ring.next->before = entry->ring.before;
        free(entry->text); //~ note heap/double-free
        free(entry);
    }
    free(table);
}

int made_and_freed(int mode) //~ clean
{
    struct table *table = make_table(mode);
    if (!table)
        return -1;
    free_table(table);
    return 0;
}

int freed_by_its_ring(int mode)
{
    struct table *table = make_table(mode);
    struct ring *ring;
    if (!table)
        return -1;
    ring = &table->entries;
    free(ring); //~ certain heap/bad-free
    return 0;
}
