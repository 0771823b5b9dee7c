/* What could not be put into a table is still its owner's: the result of the function that puts it there tells. */
void *malloc(unsigned long size);
void *realloc(void *block, unsigned long size);
void free(void *block);
char *strdup(const char *text);

struct entry {
    char *name;
    struct entry *next;
};

struct table {
    char **names;
    unsigned long count, room;
    struct entry *first;
};

int put(struct table *table, char *name)
{
    if (table->count == table->room) {
        unsigned long room = table->room + 64;
        char **names = realloc(table->names, room * sizeof *names);
        if (!names)
            return -12;
        table->names = names;
        table->room = room;
    }
    table->names[table->count++] = name;
    return 0;
}

char *put_copy(struct table *table, const char *text)
{
    char *name = strdup(text); //~ heap/leak
    if (!name)
        return 0;
    if (put(table, name))
        return 0;
    return name;
}

char *put_copy_or_free(struct table *table, const char *text) //~ clean
{
    char *name = strdup(text);
    if (!name)
        return 0;
    if (put(table, name)) {
        free(name);
        return 0;
    }
    return name;
}

struct entry *entered(struct table *table, char *name)
{
    struct entry *entry = malloc(sizeof *entry);
    if (!entry)
        return 0;
    entry->name = name;
    entry->next = table->first;
    table->first = entry;
    return entry;
}

int enter_copy(struct table *table, const char *text)
{
    char *name = strdup(text); //~ heap/leak
    if (!name)
        return -1;
    if (!entered(table, name))
        return -1;
    return 0;
}

int enter_copy_or_free(struct table *table, const char *text) //~ clean
{
    char *name = strdup(text);
    if (!name)
        return -1;
    if (!entered(table, name)) {
        free(name);
        return -1;
    }
    return 0;
}

struct list {
    struct list *next, *prev;
};

struct mount {
    int flags;
    struct list list;
};

struct context {
    int flags;
    struct list mounts;
};

static struct mount *new_mount(int flags)
{
    struct mount *mount = malloc(sizeof *mount);
    if (!mount)
        return 0;
    mount->flags = flags;
    mount->list.next = mount->list.prev = &mount->list;
    return mount;
}

int append(struct context *context, struct mount *mount)
{
    if (mount->list.next != &mount->list)
        return -22;
    mount->list.next = &context->mounts;
    mount->list.prev = context->mounts.prev;
    context->mounts.prev->next = &mount->list;
    context->mounts.prev = &mount->list;
    return 0;
}

/* A new one is in no list. */
int append_new(struct context *context, int flags) //~ clean
{
    struct mount *mount = new_mount(flags);
    if (!mount)
        return -12;
    int failed = append(context, mount);
    if (failed)
        return failed;
    context->flags = flags;
    return 0;
}
