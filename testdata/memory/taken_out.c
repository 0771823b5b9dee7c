// A callee takes an element out of a tree that it gets with it, in a way that nothing here tells. What the tree leads to afterwards is
// another element.

#include <stdlib.h>

struct node {
    unsigned long parent_color;
    struct node *left;
    struct node *right;
};

struct root {
    struct node *node;
};

struct extent {
    struct node node;
    int size;
};

struct root extents;

void erase(struct node *node, struct root *root);

int clear(void) //~ clean
{
    int size = 0;
    struct node *node;
    while ((node = extents.node)) {
        struct extent *extent = (struct extent *)node;
        erase(node, &extents);
        size += extent->size;
        free(extent);
    }
    return size;
}

int clear_wrongly(void)
{
    int size = 0;
    struct node *node;
    while ((node = extents.node)) {
        struct extent *extent = (struct extent *)node;
        free(extent);
        size += extent->size; //~ heap/use-after-free
        erase(node, &extents);
    }
    return size;
}
