// A function that changes nothing is asked about the same arguments before a result is followed that is null at times: it tells
// whether there is one.

#include <stdlib.h>
#include <string.h>

struct entry {
    int key;
    const char *value;
    struct entry *left;
    struct entry *right;
};

struct table {
    struct entry *root;
    int limit;
};

static struct entry *find(struct table *table, int key)
{
    struct entry *entry = table->root;
    while (entry) {
        if (key < entry->key)
            entry = entry->left;
        else if (key > entry->key)
            entry = entry->right;
        else
            return entry;
    }
    return NULL;
}

int has(struct table *table, int key)
{
    return find(table, key) != NULL;
}

int limit_of(struct table *table)
{
    return table->limit;
}

const char *get(struct table *table, int key)
{
    struct entry *entry = find(table, key);
    if (!entry)
        return NULL;
    return entry->value;
}

size_t tested_1(struct table *table)
{
    const char *value = get(table, 1);
    return value ? strlen(value) : 0;
}

size_t tested_2(struct table *table)
{
    const char *value = get(table, 2);
    if (!value)
        return 0;
    return strlen(value);
}

size_t tested_3(struct table *table)
{
    const char *value = get(table, 3);
    if (value == NULL)
        return 0;
    return strlen(value);
}

size_t tested_4(struct table *table)
{
    const char *value = get(table, 4);
    if (value != NULL)
        return strlen(value);
    return 0;
}

size_t tested_5(struct table *table)
{
    const char *value = get(table, 10);
    return value != NULL ? strlen(value) : 1;
}

size_t tested_6(struct table *table)
{
    const char *value = get(table, 11);
    if (!value)
        return 2;
    return strlen(value);
}

size_t asked_first(struct table *table)
{
    if (!has(table, 5))
        return 0;
    return strlen(get(table, 5)); //~ note null/dereference
}

size_t asked_for_another_key(struct table *table)
{
    if (!has(table, 6))
        return 0;
    return strlen(get(table, 7)); //~ note null/dereference
}
