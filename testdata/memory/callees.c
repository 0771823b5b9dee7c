// What callees leave behind pointers, end, follow and read.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void *realloc(void *block, size_t size);
void free(void *block);
void *memcpy(void *to, const void *from, size_t count);
char *strdup(const char *text);
int printf(const char *format, ...);
int puts(const char *text);
void exit(int status) __attribute__((noreturn));
int either(void);
void remember(char *text);

struct owner {
    char *name;
    struct owner *next;
};

// A pointer to what is gone already is left behind another one.
static void leave_freed(char **result)
{
    char *made = malloc(100);
    if (!made)
        exit(1);
    free(made);
    *result = made;
}

static void leave(char **result)
{
    char *made = malloc(100);
    if (!made)
        exit(1);
    *result = made;
}

void freed_again(void)
{
    char *text = 0;
    leave_freed(&text);
    free(text); //~ certain heap/double-free
}

void used_when_freed(void)
{
    char *text = 0;
    leave_freed(&text);
    text[0] = 'a'; //~ certain heap/use-after-free
}

void freed_once(void) //~ clean
{
    char *text = 0;
    leave(&text);
    text[0] = 'a';
    free(text);
}

struct box {
    int id;
    char *text;
};

static void fill(struct box *box)
{
    char *made = malloc(10);
    if (!made)
        exit(1);
    free(made);
    box->text = made;
}

void freed_again_in_record(void)
{
    struct box box = {0};
    fill(&box);
    free(box.text); //~ certain heap/double-free
}

// So is one of which nobody has asked whether it is null.
static void leave_unchecked(char **result)
{
    *result = malloc(100);
}

static void leave_checked(char **result)
{
    char *made = malloc(100);
    if (!made)
        exit(1);
    *result = made;
}

void followed_unchecked(void)
{
    char *text = 0;
    leave_unchecked(&text);
    text[0] = 'a'; //~ certain null/unchecked-result
    free(text);
}

void followed_checked(void) //~ clean
{
    char *text = 0;
    leave_unchecked(&text);
    if (!text)
        return;
    text[0] = 'a';
    free(text);
}

void checked_by_callee(void) //~ clean
{
    char *text = 0;
    leave_checked(&text);
    text[0] = 'a';
    free(text);
}

// What a format has `%s` for is read, what it has `%p` for is not.
void printed(void)
{
    char *text = strdup("a");
    if (!text)
        return;
    free(text);
    printf("%d: %s\n", 1, text); //~ certain heap/use-after-free
}

void printed_as_address(void) //~ clean
{
    char *text = strdup("a");
    if (!text)
        return;
    free(text);
    printf("%d: %p\n", 1, (void *)text);
}

// Who ends a record ends what it leads to, or does not: the summary says so.
static struct owner *make(void)
{
    struct owner *made = malloc(sizeof *made);
    if (!made)
        exit(1);
    made->next = 0;
    return made;
}

static void end_record(struct owner *owner)
{
    puts(owner->name);
    free(owner);
}

static void pass_on(struct owner *owner)
{
    end_record(owner);
}

void name_lost(void)
{
    struct owner *owner = make();
    owner->name = strdup("a"); //~ certain heap/leak
    if (!owner->name)
        exit(1);
    pass_on(owner);
}

static void end_both(struct owner *owner)
{
    free(owner->name);
    free(owner);
}

void name_ended(void) //~ clean
{
    struct owner *owner = make();
    owner->name = strdup("a");
    if (!owner->name)
        exit(1);
    end_both(owner);
}

static void end_and_remember(struct owner *owner)
{
    remember(owner->name);
    free(owner);
}

void name_kept(void) //~ clean
{
    struct owner *owner = make();
    owner->name = strdup("a");
    if (!owner->name)
        exit(1);
    end_and_remember(owner);
}

static char *end_and_return(struct owner *owner)
{
    char *name = owner->name;
    free(owner);
    return name;
}

void name_returned(void) //~ clean
{
    struct owner *owner = make();
    owner->name = strdup("a");
    if (!owner->name)
        exit(1);
    free(end_and_return(owner));
}

static void end_all(struct owner *owner)
{
    while (owner) {
        struct owner *next = owner->next;
        free(owner->name);
        free(owner);
        owner = next;
    }
}

void list_ended(void) //~ clean
{
    struct owner *first = make(), *second = make();
    first->name = 0;
    first->next = second;
    second->name = strdup("a");
    if (!second->name)
        exit(1);
    end_all(first);
}

// What a callee has made and ended itself is nobody else's.
static char *grown_away(void)
{
    char *text = malloc(10);
    if (!text)
        exit(1);
    char *grown = realloc(text, 100);
    if (!grown) {
        free(text);
        exit(1);
    }
    free(grown);
    return text;
}

void moved_away(void)
{
    char *text = grown_away();
    text[0] = 'a'; //~ certain heap/use-after-free
}

// An argument tells which way a callee follows a pointer.
static void put(char *text, int careful)
{
    if (careful) {
        if (!text)
            return;
        text[0] = 'a';
    } else {
        text[0] = 'b'; //~ note null/dereference
    }
    free(text);
}

void put_carelessly(void)
{
    char *text = malloc(10);
    put(text, 0); //~ certain null/unchecked-result
}

void put_carefully(void) //~ clean
{
    char *text = malloc(10);
    put(text, 1);
}

// A callee returns null on one of its ways; the caller asks, but too late.
struct item {
    int id;
    struct item *next;
};

static struct item *new_item(int wanted)
{
    if (!wanted)
        return 0;
    struct item *made = malloc(sizeof *made);
    if (!made)
        exit(1);
    return made;
}

int asked_too_late(int wanted)
{
    struct item *item = new_item(wanted);
    item->id = 1; //~ certain null/dereference
    if (item == 0)
        return -1;
    free(item);
    return 0;
}

int asked_in_time(int wanted) //~ clean
{
    struct item *item = new_item(wanted);
    if (item == 0)
        return -1;
    item->id = 1;
    free(item);
    return 0;
}

int asked_elsewhere(int wanted)
{
    struct item *item = new_item(wanted);
    item->id = 1; //~ note null/dereference
    free(item);
    return 0;
}

// The place that is copied to is followed.
void *copied(const char *from, size_t count)
{
    void *to = malloc(count);
    memcpy(to, from, count); //~ certain null/unchecked-result
    return to;
}

void *copied_if_there(const char *from, size_t count) //~ clean
{
    void *to = malloc(count);
    if (to)
        memcpy(to, from, count);
    return to;
}
