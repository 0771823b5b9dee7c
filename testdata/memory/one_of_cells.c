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

// A number of an open file is kept in one of two members; flags say in which, in a way too long to be told.
int open(const char *path, int flags, ...);
int close(int file);
int open_locked(const char *path, int flags);

struct device {
    const char *path;
    int reading, writing, locked;
    unsigned direct : 1;
};

static int open_device(struct device *device, int flags)
{
    int access, file;

    if (device->direct)
        flags |= 040000;
    access = flags & 3;
    if (access == 1)
        access = 2;
    if (access == 0 && device->reading >= 0)
        return device->reading;
    else if (access == 2 && device->writing >= 0)
        return device->writing;
    if (device->locked)
        file = open_locked(device->path, flags);
    else
        file = open(device->path, flags);
    if (file < 0)
        return file;
    if (access == 0)
        device->reading = file;
    else
        device->writing = file;
    return file;
}

static void close_device(struct device *device)
{
    if (device->reading != -1)
        close(device->reading);
    if (device->writing != -1)
        close(device->writing);
}

int open_and_close(struct device *device, int flags) //~ clean
{
    if (open_device(device, flags) < 0)
        return -1;
    close_device(device);
    return 0;
}

// Here it is in both.
static int open_for_both(struct device *device, int flags)
{
    int file = open(device->path, flags);

    if (file < 0)
        return file;
    device->reading = file;
    device->writing = file;
    return file;
}

int close_both(struct device *device, int flags)
{
    if (open_for_both(device, flags) < 0)
        return -1;
    close_device(device); //~ file/double-close
    return 0;
}
