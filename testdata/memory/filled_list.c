// A list that a callee has filled: elements are taken out through their own pointers, which lead to where the callee has put them.

#include <stdlib.h>
#include <string.h>

struct item {
    struct item *next;
    struct item **before;
    char *name;
};

struct list {
    struct item *first;
    struct item **last;
};

int add(struct list *list, const char *name)
{
    struct item *item;
    if (*name == '\0')
        return 1;
    item = calloc(1, sizeof *item);
    if (item == NULL)
        return -1;
    item->name = strdup(name);
    if (item->name == NULL) {
        free(item);
        return -1;
    }
    item->next = NULL;
    item->before = list->last;
    *list->last = item;
    list->last = &item->next;
    return 0;
}

int count(const char *const *names)
{
    struct list list;
    struct item *item;
    int found = -1;
    list.first = NULL;
    list.last = &list.first;
    for (; *names; names++)
        if (add(&list, *names) == -1)
            goto out;
    found = 0;
out:
    while ((item = list.first)) {
        if (item->next) //~ known-false-positive note heap/use-after-free
            item->next->before = item->before;
        else
            list.last = item->before;
        *item->before = item->next;
        free(item->name); //~ known-false-positive note heap/double-free
        free(item);
    }
    return found;
}

int count_wrongly(const char *const *names)
{
    struct list list;
    struct item *item;
    list.first = NULL;
    list.last = &list.first;
    for (; *names; names++)
        if (add(&list, *names) == -1)
            break;
    while ((item = list.first)) {
        if (item->next)
            item->next->before = item->before;
        else
            list.last = item->before;
        *item->before = item->next;
        free(item);
        free(item->name); //~ heap/use-after-free //~ known-false-positive note heap/double-free
    }
    return 0;
}
