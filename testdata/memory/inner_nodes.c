// A block that holds its own nodes, and a pointer to them: who is given one of the nodes finds the block by it. A list's head that
// leads to itself, as it does while the list is empty, is not such a pointer.
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *left, *right;
};

struct table {
    struct node *nodes;
    struct node *first, *last;
    int used;
};

extern struct node **find_slot(const char *name);

static void hang_in(struct table *table, const char *name, int index)
{
    *find_slot(name) = &table->nodes[index];
}

static struct table *make(int count)
{
    struct table *table = calloc(1, sizeof *table + count * sizeof(struct node));
    if (!table)
        return NULL;
    table->nodes = (struct node *)(table + 1);
    return table;
}

static struct table *register_table(const char *name, int count) //~ clean
{
    struct table *table = make(count);
    if (!table)
        return NULL;
    hang_in(table, name, count - 1);
    return table;
}

void set_up(void) //~ clean
{
    register_table("eins", 4);
}

static struct table *unregistered_table(int count)
{
    struct table *table = make(count);
    if (!table)
        return NULL;
    table->used = count;
    return table;
}

int set_up_nothing(void)
{
    struct table *table = unregistered_table(4); //~ heap/leak
    return table ? table->used : 0;
}

struct list {
    struct list *next, *prev;
};

struct group {
    int number;
    struct list members;
};

extern void use_number(int number);

static void enter(struct group *group, struct list *member)
{
    struct list *last = group->members.prev;
    member->prev = last;
    member->next = &group->members;
    last->next = member;
}

static struct group *new_group(int number)
{
    struct group *group = calloc(1, sizeof *group);
    if (!group)
        return NULL;
    group->number = number;
    group->members.next = group->members.prev = &group->members;
    return group;
}

void number_alone(int number)
{
    struct group *group = new_group(number); //~ heap/leak
    if (group)
        use_number(group->number);
}

void number_and_member(int number) //~ clean
{
    struct group *group = new_group(number);
    struct list *member;
    if (!group)
        return;
    member = calloc(1, sizeof *member);
    if (!member) {
        free(group);
        return;
    }
    enter(group, member);
    free(member);
    free(group);
}

struct record {
    unsigned long size;
    char *text;
};

static unsigned long total;

// A number that was read from a block is no pointer into it.
int count(FILE *in)
{
    struct record *record = malloc(sizeof *record);
    if (!record)
        return -1;
    if (fread(record, sizeof *record, 1, in) != 1) {
        free(record);
        return -1;
    }
    record->text = malloc(16); //~ heap/leak
    total += record->size;
    free(record);
    return 0;
}
