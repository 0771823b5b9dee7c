/* What lies in a record that is returned belongs to the caller. */
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

struct list {
    struct node *first, *last;
};

static struct node *new_node(int value)
{
    struct node *node = malloc(sizeof *node);
    if (!node)
        abort();
    node->value = value;
    node->next = NULL;
    return node;
}

struct list list_of(struct node *node) //~ clean
{
    struct list list = { node, node };
    return list;
}

struct list in_variable(int value) //~ clean
{
    struct node *node = new_node(value);
    struct list list = { node, node };
    return list;
}

struct list in_literal(int value) //~ clean
{
    struct node *node = new_node(value);
    return (struct list){ node, node };
}

struct list by_callee(int value) //~ clean
{
    return list_of(new_node(value));
}

struct list in_heap(int value) //~ clean
{
    struct list *list = malloc(sizeof *list);
    if (!list)
        abort();
    list->first = list->last = new_node(value);
    struct list copy = *list;
    free(list);
    return copy;
}

struct list not_in_it(int value)
{
    struct list list = { NULL, NULL };
    struct node *node = new_node(value); //~ certain heap/leak
    if (node->value > 0)
        list.first = NULL;
    return list;
}

// Which of two records is returned is chosen, and where they were made.
struct list chosen(int value) //~ clean
{
    struct list list;
    if (value)
        list = in_variable(value);
    else
        list = by_callee(value);
    struct list copy = list;
    return value > 3 ? list : copy;
}

static struct list number(int value) //~ clean
{
    struct list list = { new_node(value), NULL };
    return list;
}

struct list chosen_calls(int value) //~ clean
{
    return value > 3 ? number(value) : in_variable(value);
}

struct list chosen_for_nothing(int value)
{
    struct list list;
    if (value)
        list = list_of(NULL);
    else
        list = list_of(new_node(value)); //~ certain heap/leak
    if (list.first)
        list.first = NULL;
    list.last = NULL;
    return list;
}
