// A function that hands on what another one returns that finds nothing at times, returns null at times itself.
#include <stddef.h>
#include <string.h>

struct entry {
    const char *name;
    int size;
    struct entry *next;
};
enum kind { ANY, LARGE };

extern struct entry *entries;

static struct entry *find_of_kind(const char *name, enum kind kind)
{
    struct entry *entry;
    for (entry = entries; entry; entry = entry->next) {
        if (kind == LARGE && entry->size < 100)
            continue;
        if (strcmp(entry->name, name) == 0)
            return entry;
    }
    return NULL;
}

struct entry *find(const char *name)
{
    return find_of_kind(name, ANY);
}

int size_of_fish(void)
{
    struct entry *entry = find("fish");
    return entry ? entry->size : 0;
}

int size_of_bird(void)
{
    struct entry *entry = find("bird");
    if (!entry)
        return -1;
    return entry->size;
}

int size_of_worm(void)
{
    struct entry *entry = find("worm");
    if (entry == NULL)
        return -1;
    return entry->size;
}

int size_of_whale(void)
{
    struct entry *entry = find("whale");
    return entry->size; //~ null/unchecked-result
}
