// A callee frees a block where something in memory says so. What its caller has asked of the same memory decides whether it does, unless a function in
// between may have changed that.
#include <stdlib.h>

struct node {
    struct node *previous;
    struct node *next;
    char *text;
};

struct list {
    struct node *head;
    unsigned long length;
};

void reload(struct list *list);

static void free_first(struct list *list)
{
    if (list->length)
        free(list->head);
}

static void free_alone(struct node *node)
{
    if (!node->previous)
        free(node);
}

void of_a_list(struct list *list)
{
    if (!list->head || !list->length)
        return;
    free_first(list);
    list->head->text = 0; //~ heap/use-after-free
}

void of_a_list_without_any(struct list *list) //~ clean
{
    if (!list->head || list->length)
        return;
    free_first(list);
    list->head->text = 0;
}

void of_a_node(struct node *node)
{
    if (node->previous)
        return;
    free_alone(node);
    node->text = 0; //~ heap/use-after-free
}

void of_a_node_with_another(struct node *node) //~ clean
{
    if (!node->previous)
        return;
    free_alone(node);
    node->text = 0;
}

/* What reload() leaves there is not known. */
void changed_in_between(struct list *list)
{
    if (!list->head || !list->length)
        return;
    reload(list);
    free_first(list);
    list->head->text = 0; //~ note heap/use-after-free
}
