// A list whose elements know their neighbours: the first one has none before it. A function that takes an element out asks the element for that, not the
// list's head; callers count on it that a list's head leads to no element that was freed.
#include <stdlib.h>

struct node {
    struct node *previous;
    struct node *next;
    char *text;
};

struct list {
    struct node *head;
    struct node *tail;
    void (*release)(void *);
    unsigned long length;
    int keeps;
};

static void delete_node(struct list *list, struct node *node)
{
    if (node->previous)
        node->previous->next = node->next;
    else
        list->head = node->next;
    if (node->next)
        node->next->previous = node->previous;
    else
        list->tail = node->previous;
    if (list->release)
        list->release(node->text);
    free(node);
    list->length--;
}

void delete_first(struct list *list)
{
    if (list->length)
        delete_node(list, list->head);
}

/* Clean: each call finds another first element. */
void delete_two(struct list *list) //~ clean
{
    delete_first(list);
    delete_first(list);
}

/* Clean: what is walked through are the elements that are left. */
unsigned long rest(struct list *list) //~ clean
{
    delete_first(list);
    unsigned long length = 0;
    for (struct node *node = list->head; node; node = node->next)
        length++;
    return length;
}

static void drop_first(struct list *list)
{
    struct node *node = list->head;
    if (!node)
        return;
    if (!list->keeps)
        list->head = node->next;
    free(node);
}

/* The list, not the element, says here whether its head is left: as the callee writes the pointer on other paths, this is a note. */
void drop_kept(struct list *list)
{
    if (!list->head)
        return;
    list->keeps = 1;
    drop_first(list);
    list->head->text = 0; //~ note heap/use-after-free
}

static void free_first(struct list *list)
{
    if (list->head && !list->head->previous)
        free(list->head);
}

/* Nothing takes the element out. */
void use_freed(struct list *list)
{
    if (!list->head || list->head->previous)
        return;
    free_first(list);
    list->head->text = 0; //~ heap/use-after-free
}
