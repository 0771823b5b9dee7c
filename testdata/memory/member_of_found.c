// A function that finds a record, gives up if there is none, and returns the address of a member of it. Much decides whether it
// returns it, more than a summary tells; that the record was found is told with it.
#include <stdlib.h>
#include <string.h>

struct head {
    struct head *next;
    int kind, size, flags, owner, group, rights;
};

struct record {
    struct head head;
    struct head *of;
    char priv[64];
};

struct table {
    struct record *first;
    int wanted[16];
    int count;
};

struct record *find(struct table *table, int kind, int size)
{
    struct record *record = table->first;
    if (kind < 3 || size > table->wanted[kind % 16] || table->count == 0)
        return NULL;
    if (record->head.kind != kind || record->head.size < size)
        return NULL;
    if (table->wanted[record->head.flags & 15] > size)
        return NULL;
    return record;
}

char *found(struct table *table, int kind, int size, const int *rights, int n)
{
    struct record *record = find(table, kind, size);
    if (!record)
        return NULL;
    if (record->head.owner != rights[0] && record->head.group != rights[1])
        return NULL;
    if (n > 2 && (rights[2] & record->head.rights) == 0 && rights[3] != 7)
        return NULL;
    if (record->head.next && record->head.next->kind == kind && record->head.next->owner == rights[4])
        return NULL;
    return record->priv;
}

int first_byte(struct table *table, const int *rights) //~ clean
{
    char *priv = found(table, 4, 12, rights, 3);
    if (!priv)
        return -1;
    return *priv;
}

int untested(struct table *table, const int *rights)
{
    char *priv = found(table, 4, 12, rights, 3);
    return *priv; //~ null/unchecked-result
}
