// Who answers for a block: what callees allocate, free and keep.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void free(void *block);
char *strdup(const char *text);
void abort(void) __attribute__((noreturn));

struct node {
    int value;
    int count;
    struct node *next;
    char *name;
};

struct holder {
    struct node *first;
    char *text;
};

static struct node *make(const char *name)
{
    struct node *n = malloc(sizeof *n);
    if (!n)
        return 0;
    n->name = strdup(name);
    n->value = 0;
    n->next = 0;
    return n;
}

static void destroy(struct node *n)
{
    if (!n)
        return;
    free(n->name);
    free(n);
}

void made_and_destroyed(void) //~ clean
{
    struct node *n = make("a");
    if (!n)
        return;
    n->value = 1;
    destroy(n);
}

void made_and_lost(int busy)
{
    struct node *n = make("a"); //~ certain heap/leak
    if (busy)
        return;
    destroy(n);
}

int used_after_destroyed(void)
{
    struct node *n = make("a");
    if (!n)
        return 0;
    destroy(n);
    return n->value; //~ certain heap/use-after-free
}

// The members go with the block only if a function sees to that.
void shallow(void)
{
    struct node *n = malloc(sizeof *n);
    if (!n)
        return;
    n->name = strdup("a"); //~ certain heap/leak
    free(n);
}

void deep(void) //~ clean
{
    struct node *n = malloc(sizeof *n);
    if (!n)
        return;
    n->name = strdup("a");
    free(n->name);
    free(n);
}

static void push(struct holder *h, struct node *n)
{
    n->next = h->first;
    h->first = n;
}

void pushed(struct holder *h) //~ clean
{
    struct node *n = make("a");
    if (n)
        push(h, n);
}

void pushed_to_own(int value)
{
    struct holder h = { 0, 0 };
    struct node *n = make("a"); //~ heap/leak
    if (!n)
        return;
    n->value = value;
    push(&h, n);
}

static int fill(struct holder *h)
{
    h->text = strdup("text");
    return h->text ? 0 : -1;
}

static void empty(struct holder *h)
{
    free(h->text);
    h->text = 0;
}

void filled_and_emptied(void) //~ clean
{
    struct holder h;
    if (fill(&h) < 0)
        return;
    empty(&h);
}

int filled_and_lost(int busy)
{
    struct holder h;
    if (fill(&h) < 0) //~ certain heap/leak
        return -1;
    if (busy)
        return -2;
    empty(&h);
    return 0;
}

static void *always(size_t size)
{
    void *block = malloc(size);
    if (!block)
        abort();
    return block;
}

int always_there(void) //~ clean
{
    struct node *n = always(sizeof *n);
    int value;
    n->value = 1;
    value = n->value;
    free(n);
    return value;
}

static void clear(char **text)
{
    free(*text);
    *text = 0;
}

void cleared_twice(void) //~ clean
{
    char *text = strdup("a");
    clear(&text);
    clear(&text);
}

// References: the block is freed with the last one.
static void put(struct node *n)
{
    if (--n->count == 0) {
        free(n->name);
        free(n);
    }
}

int counted(struct node *n)
{
    n->count++;
    put(n);
    return n->value; //~ note heap/use-after-free
}

// A pool remembers what it gives out.
struct large {
    struct large *next;
    void *block;
};

struct memory_pool {
    struct large *large;
};

static void *from_pool(struct memory_pool *pool, size_t size) //~ clean
{
    struct large *large;
    void *block = malloc(size);

    if (!block)
        return 0;
    for (large = pool->large; large; large = large->next) {
        if (!large->block) {
            large->block = block;
            return block;
        }
    }
    large = malloc(sizeof *large);
    if (!large) {
        free(block);
        return 0;
    }
    large->block = block;
    large->next = pool->large;
    pool->large = large;
    return block;
}

static void *zeroed_from_pool(struct memory_pool *pool, size_t size) //~ clean
{
    char *block = from_pool(pool, size);

    if (block)
        block[0] = 0;
    return block;
}

int given_by_pool(struct memory_pool *pool, int failed) //~ clean
{
    char *text = zeroed_from_pool(pool, 16);

    if (!text || failed)
        return -1;
    text[0] = 0;
    return 0;
}

// What a callee leaves behind a pointer where it fails is nothing, and nothing is freed then.
static int split(const char *text, char **name, char **host)
{
    const char *at;

    *name = 0;
    *host = 0;
    at = strchr(text, '@');
    if (at) {
        *name = strndup(text, at - text);
        if (!*name)
            goto error;
        text = at + 1;
    }
    if (!*text)
        goto error;
    *host = strdup(text);
    if (!*host)
        goto error;
    return 0;
error:
    if (*name)
        free(*name);
    *name = 0;
    return -1;
}

int first_of_host(const char *text) //~ clean
{
    char *name = 0, *host = 0;
    int first = 0;

    if (split(text, &name, &host) == 0)
        first = host[0];
    if (name)
        free(name);
    if (host)
        free(host);
    return first;
}
