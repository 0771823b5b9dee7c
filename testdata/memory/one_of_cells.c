// A new block is left in one of several places: callers are not told in which, and do not find it in two of them.
typedef unsigned long size_t;
void free(void *block);
char *strdup(const char *text);
char *getenv(const char *name);
int strcmp(const char *one, const char *other);
size_t strlen(const char *text);

struct setting {
    struct setting *next;
    const char *name;
    char *text;
    int owned;
};

struct settings {
    struct setting *first;
    int status, kind, depth, width;
};

static int set(struct settings *all, const char *name, const char *text)
{
    struct setting *p;

    for (p = all->first; p; p = p->next)
        if (!strcmp(p->name, name)) {
            if (p->owned)
                free(p->text);
            p->owned = 1;
            p->text = strdup(text);
            return 0;
        }
    return -1;
}

static const char *cache_name(struct settings *all)
{
    const char *home = getenv("HOME");

    if (!home || strlen(home) < 3 || home[0] != '/' || home[1] == '/')
        return 0;
    set(all, "cache", home);
    return home;
}

static void flush(struct settings *all)
{
    int status = all->status;

    all->status = 0;
    if (status < 2 || all->kind == 3 || all->depth > 4 && all->width < 7)
        return;
    if (!cache_name(all))
        return;
    all->kind = 1;
}

static void free_settings(struct settings *all)
{
    struct setting *p;

    while ((p = all->first)) {
        all->first = p->next;
        if (p->owned)
            free(p->text);
        free(p);
    }
}

void clean_up(struct settings *all) //~ clean
{
    flush(all);
    free_settings(all);
}

void clean_up_twice(struct settings *all)
{
    struct setting *first = all->first;

    if (!first || !first->owned)
        return;
    flush(all);
    free(first->text);
    free(first->text); //~ heap/double-free
}
