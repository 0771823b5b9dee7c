// Conditions on objects of static storage that nothing changes, and on those that something does.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void free(void *block);
void take_int(const int *p);

static const int always = 1;
static int never_written = 1;
static int never_set;
static int set_somewhere;
static int address_taken = 1;
static volatile int from_outside = 1;
int five = 5;
char *set_by_others;
const int limits[3] = {4, 0, 8};

static const struct mode {
    int verbose;
    unsigned quiet : 1, strict : 2;
    const char *name;
    const int *limit;
} mode = {.strict = 2, .name = "plain", .limit = &limits[1]};

void set(int n) //~ clean
{
    set_somewhere = n;
    take_int(&address_taken);
}

char *freed_in_any_case(void) //~ clean
{
    char *p = malloc(8);

    if (always)
        free(p);
    if (never_written != 1)
        return p;
    return 0;
}

void freed_on_no_path(void)
{
    char *p = malloc(8); //~ certain heap/leak

    if (!p)
        return;
    if (never_set)
        free(p);
}

void freed_twice(void)
{
    char *p = malloc(8);

    if (five == 5)
        free(p);
    if (limits[2] == 8 && mode.strict == 2 && !mode.quiet)
        free(p); //~ certain heap/double-free
}

void freed_once(void) //~ clean
{
    char *p = malloc(8);

    if (five == 5)
        free(p);
    if (*mode.limit || mode.verbose || !mode.name || mode.name[0] != 'p')
        free(p);
}

void of_a_static_variable(void) //~ clean
{
    static const int on = 1;
    static int off;
    char *p = malloc(8);

    if (on)
        free(p);
    if (off)
        free(p);
}

void of_a_counter(void) //~ clean
{
    static int calls;
    char *p = malloc(8);

    if (calls++ == 0)
        free(p);
    else
        free(p);
}

// What something changes is not known: this one may be 0.
void what_changes(void)
{
    char *p = malloc(8); //~ certain heap/leak

    if (p && set_somewhere)
        free(p);
}

void what_others_may_change(void)
{
    char *p = malloc(8); //~ certain heap/leak

    if (p && address_taken)
        free(p);
}

void what_is_volatile(void)
{
    char *p = malloc(8); //~ certain heap/leak

    if (p && from_outside)
        free(p);
}

// A variable that other files can see and that has no value here is set where the tree does not show it.
char first_of_what_others_set(void) //~ clean
{
    return set_by_others[0];
}

// A table of functions says which is called.
static void drop(void *block) //~ clean
{
    free(block);
}

static void look(void *block) //~ clean
{
    take_int(block);
}

static const struct {
    const char *name;
    void (*done)(void *block);
} ways[] = {{"look", look}, {"drop", drop}};

void dropped_by_table(void)
{
    char *p = malloc(8);

    ways[1].done(p);
    free(p); //~ certain heap/double-free
}

void dropped_once_by_table(void) //~ clean
{
    char *p = malloc(8);

    ways[0].done(p);
    free(p);
}

// A static pointer that nothing sets is set by code that is not here.
static struct mode *current_mode;

int verbosity(void) //~ clean
{
    return current_mode->verbose;
}

// The whole program is here: nothing else changes `five`.
int main(void) //~ clean
{
    return verbosity();
}
