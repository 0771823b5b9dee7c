// A function returns what it has made, or an error number in place of the pointer, which is not null.
typedef __SIZE_TYPE__ size_t;
typedef unsigned int gfp_t;
#define GFP_KERNEL 0xcc0u
#define IS_ERR(p) ((unsigned long)(p) >= (unsigned long)-4095)
#define ERR_PTR(error) ((void *)(long)(error))
void *kmalloc(size_t size, gfp_t flags);
void kfree(const void *block);
int read_number(const char *text, int *number);
int map_pages(void *at, int count);

struct table {
    int max;
    int *slots;
    void *map;
};

static struct table *new_table(int max, const char *text)
{
    struct table *table;
    int result = -12, number;

    if (max > 1024)
        return ERR_PTR(-24);
    table = kmalloc(sizeof *table, GFP_KERNEL);
    if (!table)
        goto out;
    table->slots = kmalloc(max * sizeof(int), GFP_KERNEL);
    if (!table->slots)
        goto out_table;
    result = read_number(text, &number);
    if (result)
        goto out_slots;
    table->max = number;
    table->map = kmalloc(4096, GFP_KERNEL);
    if (!table->map) {
        result = -12;
        goto out_slots;
    }
    result = map_pages(table->map, max);
    if (result < 0)
        goto out_map;
    return table;

out_map:
    kfree(table->map);
out_slots:
    kfree(table->slots);
out_table:
    kfree(table);
out:
    return ERR_PTR(result);
}

static void free_table(struct table *table)
{
    kfree(table->map);
    kfree(table->slots);
    kfree(table);
}

int table_asked_for_an_error(int max, const char *text) //~ clean
{
    struct table *table = new_table(max, text);
    int last;

    if (IS_ERR(table))
        return -1;
    last = table->slots[table->max];
    free_table(table);
    return last;
}

int table_asked_for_an_error_twice(int max, const char *text) //~ clean
{
    struct table *one = new_table(max, text), *other;
    int last;

    if (IS_ERR(one))
        return -1;
    other = new_table(max, text);
    if (IS_ERR(other)) {
        free_table(one);
        return -1;
    }
    last = one->max + other->max;
    free_table(one);
    free_table(other);
    return last;
}

int table_lost(int max, const char *text)
{
    struct table *table = new_table(max, text); //~ certain heap/leak
    int last;

    if (IS_ERR(table))
        return -1;
    last = table->max;
    if (last > 7)
        return -2;
    free_table(table);
    return last;
}

// Null where there is nothing, else a pointer or an error number.
static struct table *table_if_any(int max, const char *text)
{
    if (!max)
        return 0;
    return new_table(max, text);
}

int null_where_there_is_none(int max, const char *text)
{
    struct table *table = table_if_any(max, text);

    if (IS_ERR(table))
        return -1;
    max = table->max; //~ null/dereference
    free_table(table);
    return max;
}
