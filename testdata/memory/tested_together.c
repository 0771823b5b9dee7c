/* Whether a program tests the results of a function: a test of a pointer that is one of several results tests each of them, and the call of a loop counts
   once, however many rounds there are. */
#include <stddef.h>
#include <string.h>

struct entry {
    struct entry *parent, *children, *next;
    const char *name;
    int size;
};

static struct entry *find(struct entry *in, const char *name)
{
    struct entry *entry;

    if (name[0] == '/')
        return NULL;
    for (entry = in->children; entry; entry = entry->next)
        if (strcmp(entry->name, name) == 0)
            break;
    if (!entry)
        return NULL;
    return entry->size < 0 ? NULL : entry;
}

int size_of(struct entry *root, struct entry *here, const char *name, int up)
{
    struct entry *found;

    if (name[0] == '/') {
        found = find(root, name + 1);
    } else if (up) {
        found = find(here->parent, name);
    } else {
        found = find(here, name);
    }
    if (found == NULL)
        return -1;
    return found->size;
}

int size_of_all(struct entry *here, const char **names, int count)
{
    int sum = 0;

    for (int i = 0; i < count; i++) {
        struct entry *found = find(here, names[i]);

        if (found == NULL)
            continue;
        sum += found->size;
    }
    return sum;
}

int size_unasked(struct entry *here, const char *name)
{
    struct entry *found = find(here, name);

    return found->size; //~ null/unchecked-result
}
