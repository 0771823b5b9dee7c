/* A list maker that fails only where its caller does not insist, and returns null, too, where no element fits: whoever insists knows that it does
   not fail, and what fits. */
#include <stdlib.h>

struct head {
    struct head *next;
};

static void drop(struct head *list)
{
    while (list) {
        struct head *next = list->next;
        free(list);
        list = next;
    }
}

static struct head *make(long size, int insist)
{
    struct head *list = NULL;
    long left = 4096;
    while ((left -= size) >= 0) {
        struct head *made = malloc(sizeof *made);
        if (!made) {
            if (insist)
                abort();
            drop(list);
            return NULL;
        }
        made->next = list;
        list = made;
    }
    return list;
}

struct head *made_for_sure(long size)
{
    struct head *list = make(size, 1);
    list->next = list; //~ note null/dereference
    return list;
}

struct head *made_perhaps(long size)
{
    struct head *list = make(size, 0);
    list->next = list; //~ null/unchecked-result
    return list;
}
