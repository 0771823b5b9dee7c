/* What the code itself believes of a pointer: a test behind its use, also within a loop; what other callers do with a result. */
#include <stdlib.h>
#include <string.h>

struct item {
    struct item *next;
    int key;
    int count;
    char *text;
};

struct item *first;
struct item *lookup(int key);

int counted_before_the_test(int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) {
        struct item *item = lookup(i);

        sum += item->count; //~ certain null/dereference
        if (!item)
            continue;
        sum += item->key;
    }
    return sum;
}

int counted_behind_the_test(int n) //~ clean
{
    int sum = 0;

    for (int i = 0; i < n; i++) {
        struct item *item = lookup(i);

        if (!item)
            continue;
        sum += item->count + item->key;
    }
    return sum;
}

int measured_before_the_way_out(int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) {
        struct item *item = lookup(i);

        sum += strlen(item->text); //~ certain null/dereference
        if (item == NULL)
            return -1;
    }
    return sum;
}

/* A test that only spares another one says little of what comes before. */
int freed_if_there(int key)
{
    struct item *item = lookup(key);
    int count = item->count; //~ note null/dereference

    if (item)
        free(item);
    return count;
}

int used_behind_the_search(int key)
{
    struct item *item;
    int count;

    for (item = first; item; item = item->next)
        if (item->key == key)
            break;
    count = item->count; //~ certain null/dereference
    if (!item)
        return -1;
    return count;
}

int searched(int key) //~ clean
{
    struct item *item;

    for (item = first; item; item = item->next)
        if (item->key == key)
            break;
    if (!item)
        return -1;
    return item->count;
}

static struct item *find(int key)
{
    struct item *item;

    for (item = first; item; item = item->next)
        if (item->key == key)
            return item;
    return NULL;
}

int key_of_one(int key) //~ clean
{
    struct item *item = find(key);

    return item ? item->key : -1;
}

int count_of_one(int key) //~ clean
{
    struct item *item = find(key);

    if (!item)
        return 0;
    return item->count;
}

const char *text_of_one(int key) //~ clean
{
    struct item *item = find(key);

    if (item == NULL)
        return "";
    return item->text;
}

/* Three of four callers test what `find` returns. */
void count_another(int key)
{
    struct item *item = find(key);

    item->count++; //~ certain null/unchecked-result
}

static struct item *find_text(const char *text)
{
    struct item *item;

    for (item = first; item; item = item->next)
        if (!strcmp(item->text, text))
            return item;
    return NULL;
}

int key_of_text(const char *text) //~ clean
{
    struct item *item = find_text(text);

    return item ? item->key : -1;
}

int count_of_text(const char *text) //~ clean
{
    struct item *item = find_text(text);

    if (!item)
        return 0;
    return item->count;
}

int is_text(const char *text) //~ clean
{
    struct item *item = find_text(text);

    return item != NULL && item->count > 0;
}

void count_text(const char *text)
{
    struct item *item = find_text(text);

    item->count++; //~ certain null/unchecked-result
}

/* What the function reads from its own records it may know to be there. */
void count_next(void)
{
    struct item *item = find_text(first->next->text);

    item->count++; //~ note null/unchecked-result
}

static struct item *last(void)
{
    struct item *item;

    for (item = first; item && item->next; item = item->next)
        ;
    return item && item->count ? item : NULL;
}

/* Nobody tests what `last` returns: who calls it may know that there is one. */
int key_of_last(void)
{
    return last()->key; //~ note null/unchecked-result
}

struct table {
    struct item **items;
};

static void drop(struct table *table, struct item *item)
{
    table->items[0] = NULL;
    free(item);
}

/* The variable is not read again, whatever the callee has put into the table. */
int dropped_twice(struct table *table)
{
    struct item *item = table->items[0];

    drop(table, item);
    drop(table, item); //~ certain heap/double-free
    return 0;
}

int another_dropped(struct table *table) //~ clean
{
    struct item *item = table->items[0];

    drop(table, item);
    item = table->items[1];
    drop(table, item);
    return 0;
}

int place_of(const struct table *table, const char *text);

/* Null is returned only where nothing is to be made, though what lies in the table may be anything. */
static struct item *find_or_make(struct table *table, const char *text, int make)
{
    struct item *item;
    int place = place_of(table, text);

    if (place >= 0)
        return table->items[place];
    if (!make)
        return NULL;
    item = calloc(1, sizeof(*item));
    if (!item)
        exit(1);
    table->items[-place - 1] = item;
    return item;
}

int key_in(struct table *table, const char *text) //~ clean
{
    struct item *item = find_or_make(table, text, 0);

    return item ? item->key : -1;
}

int count_in(struct table *table, const char *text) //~ clean
{
    struct item *item = find_or_make(table, text, 0);

    if (!item)
        return 0;
    return item->count;
}

const char *text_in(struct table *table, const char *text) //~ clean
{
    struct item *item = find_or_make(table, text, 0);

    return item ? item->text : "";
}

void count_made(struct table *table, const char *text) //~ clean
{
    struct item *item = find_or_make(table, text, 1);

    item->count++;
}

void count_found(struct table *table, const char *text)
{
    struct item *item = find_or_make(table, text, 0);

    item->count++; //~ certain null/unchecked-result
}

const char *parent_of(const char *path);
int is_within(const char *path, const char *prefix);
void use_rest(const char *rest);

/* Null is returned where the one text does not begin with the other. */
static const char *skip_prefix(const char *path, const char *prefix)
{
    if (!is_within(path, prefix))
        return NULL;
    return path + 1;
}

int rest_in(const char *path, const char *prefix) //~ clean
{
    const char *rest = skip_prefix(path, prefix);

    return rest ? *rest : 0;
}

int rest_of_second(const char *path, const char *prefix) //~ clean
{
    const char *rest = skip_prefix(path, prefix);

    if (!rest)
        return -1;
    return rest[1];
}

void rest_of_third(const char *path, const char *prefix) //~ clean
{
    const char *rest = skip_prefix(path, prefix);

    if (rest)
        use_rest(rest);
}

int rest_behind_parent(const char *path)
{
    const char *rest = skip_prefix(path, parent_of(path));

    return *rest; //~ note null/unchecked-result
}

int rest_behind(const char *path, const char *prefix)
{
    const char *rest = skip_prefix(path, prefix);

    return *rest; //~ certain null/unchecked-result
}
