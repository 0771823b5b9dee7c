// What a function leaves in an out-parameter is also in a new node of its caller's list, where it is found later.

#include <stdlib.h>

struct node {
    struct node *next;
    void *address;
    size_t size;
};

struct owner {
    int number;
    struct node *nodes;
};

static int take(struct owner *owner, size_t size, void **address)
{
    struct node *node = malloc(sizeof *node);
    if (node == NULL)
        return -1;
    *address = malloc(size);
    if (*address == NULL) {
        free(node);
        return -1;
    }
    node->address = *address;
    node->next = owner->nodes;
    owner->nodes = node;
    return 0;
}

void handle(struct owner *owner, size_t size) //~ clean
{
    void *address = NULL;
    if (take(owner, size, &address) != 0)
        return;
    *(unsigned long *)address = 1;
}

static int take_for_caller(struct owner *owner, size_t size, void **address)
{
    struct node *node = malloc(sizeof *node);
    if (node == NULL)
        return -1;
    *address = malloc(size);
    if (*address == NULL) {
        free(node);
        return -1;
    }
    node->address = NULL;
    node->next = owner->nodes;
    owner->nodes = node;
    return 0;
}

void handle_and_lose(struct owner *owner, size_t size)
{
    void *address = NULL;
    if (take_for_caller(owner, size, &address) != 0) //~ heap/leak
        return;
    *(unsigned long *)address = 1;
}
