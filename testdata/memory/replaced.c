// A function frees what a member leads to and puts another block there, on paths that callers are not told of.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void free(void *block);
_Noreturn void exit(int status);

struct table {
    char **files;
    char *type;
    int count;
    char *path, *pattern;
    int command;
};

char **expand(const char *pattern);
char **expand_users(const char *pattern);
char **expand_command(const char *pattern);
int change_folder(const char *path);
int is_folder(const char *path);

static int get_entries(struct table *table, int wanted) //~ clean
{
    char **files;
    int users = 0, only_commands = 0, which = 0, count;

    if (change_folder(table->path))
        return -1;
    if (!table->path[0] && table->pattern[0] == '~') {
        files = expand_users(table->pattern);
        users = 1;
    } else if (table->command) {
        if (table->path[0]) {
            files = expand(table->pattern);
        } else {
            files = expand_command(table->pattern);
            only_commands = 1;
        }
    } else {
        files = expand(table->pattern);
    }
    if (!files) {
        change_folder("/");
        return -1;
    }
    for (count = 0; files[count]; count++)
        ;
    if (!count) {
        change_folder("/");
        return -1;
    }
    table->count = count;
    free(table->files);
    table->files = files;
    if (table->type)
        free(table->type);
    table->type = malloc(count);
    if (!table->type)
        exit(1);
    for (int i = 0; i != count; i++)
        if (users) {
            table->type[i] = 1;
        } else if (only_commands) {
            table->type[i] = 0;
        } else {
            table->type[i] = is_folder(files[i]);
            if (table->type[i] == wanted)
                which = i;
        }
    if (change_folder("/"))
        return -1;
    return which;
}

char *reload(struct table *table, int wanted) //~ clean
{
    int which = get_entries(table, wanted);

    if (which < 0)
        return 0;
    if (table->type[which] == 2)
        return table->files[which];
    return table->files[0];
}

int reload_always(struct table *table, int wanted) //~ clean
{
    get_entries(table, wanted);
    return table->files[0][0] + table->type[0];
}

// One of its ways out leaves the pointer as it was.
static int drop_entries(struct table *table)
{
    char **files;

    if (change_folder(table->path))
        return -1;
    files = expand(table->pattern);
    free(table->files);
    if (files)
        table->files = files;
    return change_folder("/");
}

char *drop(struct table *table)
{
    if (drop_entries(table) < 0)
        return 0;
    return table->files[0]; //~ heap/use-after-free
}

// What is left is chosen twice: the old one may be what either choice takes.
static void renew(struct table *table, int count) //~ clean
{
    if (table->command)
        return;
    if (change_folder(table->path)) {
        char **files = malloc(count * sizeof *files);
        if (files) {
            free(table->files);
            table->files = files;
        }
    } else {
        free(table->files);
        table->files = 0;
    }
}

void renewed_twice(struct table *table) //~ clean
{
    renew(table, 8);
    renew(table, 16);
}

// Here the old one stays where it was.
static void renew_or_drop(struct table *table, int count)
{
    if (table->command)
        return;
    if (change_folder(table->path)) {
        char **files = malloc(count * sizeof *files);
        free(table->files);
        if (files)
            table->files = files;
    } else {
        free(table->files);
        table->files = 0;
    }
}

void dropped_twice(struct table *table)
{
    renew_or_drop(table, 8);
    renew_or_drop(table, 16); //~ heap/double-free
}
