// What only a lost block leads to is lost with it: that is one mistake, told once.
#include <stdlib.h>
#include <string.h>

struct node {
    int count;
    int *values;
    struct node *next;
};

struct node *all;

int parse(const char *text, int *value);

static void *allocate(size_t size)
{
    void *made = malloc(size);
    if (!made)
        abort();
    return made;
}

const char *add_values(int count, char **texts)
{
    struct node *node = allocate(sizeof *node); //~ heap/leak
    node->values = allocate(count * sizeof *node->values);
    node->count = 0;
    while (count--) {
        if (parse(*texts++, node->values + node->count++))
            return "no number";
    }
    node->next = all;
    all = node;
    return NULL;
}

// Here the node is freed, and the values are not.
int count_values(int count, char **texts)
{
    struct node *node = allocate(sizeof *node);
    node->values = allocate(count * sizeof *node->values); //~ note heap/leak
    node->count = 0;
    while (count--)
        node->count += parse(*texts++, node->values + node->count);
    count = node->count;
    free(node);
    return count;
}
