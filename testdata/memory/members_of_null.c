// The address of a member of what a null pointer leads to is none that a callee may access; nor is it where the callee never returns.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct data {
    long reads, writes;
};
struct node {
    struct data old, new;
    char name[16];
    struct node *next;
};

static struct node *find(struct node *node, const char *name)
{
    while (node) {
        if (strcmp(node->name, name) == 0)
            break;
        node = node->next;
    }
    return node;
}

int copied_before_the_test(struct node *nodes, struct node *source)
{
    struct node *target = find(nodes, source->name);
    memcpy(&source->old, &target->new, sizeof source->old); //~ certain null/dereference
    if (!target)
        return 0;
    source->next = target->next;
    return 1;
}

int copied_behind_the_test(struct node *nodes, struct node *source) //~ clean
{
    struct node *target = find(nodes, source->name);
    if (!target)
        return 0;
    memcpy(&source->old, &target->new, sizeof source->old);
    source->next = target->next;
    return 1;
}

int printed_before_the_test(struct node *node, char *text, int number)
{
    for (;;) {
        sprintf(text, "/dev/%s%d", node->name, number); //~ certain null/dereference
        if (!node)
            return 0;
        if (node->old.reads == number)
            break;
        node = node->next;
    }
    return 1;
}

/* What is not followed may be null. */
struct data *address_of_member(struct node *node, int *there) //~ clean
{
    struct data *data = &node->new;
    *there = node != NULL;
    return node ? data : NULL;
}

static void usage(FILE *to)
{
    fputs("usage: nodes [-h]\n", to);
    exit(to == stderr);
}

void told_how_to_use_it(int option)
{
    if (option == 'h')
        usage(stdout);
    usage(NULL); //~ certain null/dereference
}

void told_where_errors_go(int option) //~ clean
{
    if (option == 'h')
        usage(stdout);
    usage(stderr);
}
