// Pointers to functions that are declared never to return.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void free(void *block);
_Noreturn void exit(int status);

struct globals {
    const char *name;
    void (*fail)(int status, const char *text, ...) __attribute__((noreturn, format(printf, 2, 3)));
    void (*warn)(int status, const char *text, ...) __attribute__((format(printf, 2, 3)));
};
extern struct globals *globals;

typedef void (*end)(const char *text) __attribute__((noreturn));
__attribute__((noreturn)) void (*hook)(void);

static int *find(int must)
{
    static int value;
    int *found = must > 3 ? &value : 0;

    if (!found && must)
        globals->fail(2, "not found: %d", must);
    return found;
}

int found_or_ended(void) //~ clean
{
    return *find(2);
}

int found_or_not(void)
{
    return *find(0); //~ null/dereference
}

static int *find_or_warn(int must)
{
    static int value;
    int *found = must > 3 ? &value : 0;

    if (!found && must)
        globals->warn(2, "not found: %d", must);
    return found;
}

int found_or_warned(void)
{
    return *find_or_warn(2); //~ null/dereference
}

static int *find_or(int must, end ends)
{
    static int value;

    if (must > 3)
        return &value;
    if (must)
        ends("not found");
    return 0;
}

int found_or_argument(end ends) //~ clean
{
    return *find_or(2, ends);
}

int made_or_hook(void) //~ clean
{
    int *made = malloc(sizeof *made), value;

    if (!made)
        hook();
    *made = 3;
    value = *made;
    free(made);
    return value;
}

int made_or_local(void) //~ clean
{
    void (*stop)(int) __attribute__((__noreturn__)) = exit;
    int *made = malloc(sizeof *made), value;

    if (!made)
        stop(1);
    *made = 3;
    value = *made;
    free(made);
    return value;
}
