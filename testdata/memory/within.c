// What a callee frees by a pointer that leads back into the object that it is found in is no block of its own.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void *realloc(void *old, size_t size);
void free(void *block);

struct list {
    struct list *next, *prev;
};

struct item {
    int value;
    struct list link;
};

#define item_of(place) ((struct item *)((char *)(place) - __builtin_offsetof(struct item, link)))

static void free_all(struct list *head)
{
    struct list *at, *next;
    for (at = head->next; at != head; at = next) {
        next = at->next;
        free(item_of(at));
    }
}

void empty_list(void) //~ clean
{
    struct list head;
    head.next = head.prev = &head;
    free_all(&head);
}

struct stack {
    void **items;
    size_t count, room;
    void *few[32];
};

static void push(struct stack *s, void *item)
{
    if (s->count == s->room) {
        if (s->items == s->few) {
            s->items = malloc(s->room * 2 * sizeof *s->items);
            if (!s->items)
                return;
        } else {
            void **more = realloc(s->items, s->room * 2 * sizeof *s->items);
            if (!more)
                return;
            s->items = more;
        }
        s->room *= 2;
    }
    s->items[s->count++] = item;
}

void small_stack(void *item) //~ clean
{
    struct stack s;
    s.items = s.few;
    s.count = 0;
    s.room = 32;
    push(&s, item);
    if (s.items != s.few)
        free(s.items);
}

struct name {
    char *text;
};

static void free_name(struct name *n)
{
    free(n->text);
}

void variable_freed(void)
{
    char text[8];
    struct name n;
    n.text = text;
    free_name(&n); //~ certain heap/bad-free
}

// Which block an address leads to that is computed with a number, the number decides.
extern unsigned long base;
unsigned long page_of(int index);

void two_pages(void) //~ clean
{
    free((void *)(base + page_of(0)));
    free((void *)(base + page_of(1)));
}

// A callee that takes one record by two pointers.
struct memory {
    int users, readers;
    char data[64];
};

static void put(struct memory *m, int *count)
{
    --*count;
    if (m->users == 0 && m->readers == 0)
        free(m);
}

int put_by_count(int bad) //~ clean
{
    struct memory *m = malloc(sizeof *m);
    if (!m)
        return -1;
    m->users = 1;
    m->readers = 0;
    if (bad) {
        put(m, &m->users);
        return -1;
    }
    free(m);
    return 0;
}

int not_put(int bad)
{
    int other = 1;
    struct memory *m = malloc(sizeof *m); //~ certain heap/leak
    if (!m)
        return -1;
    m->users = 1;
    m->readers = 0;
    if (bad) {
        put(m, &other);
        return -1;
    }
    free(m);
    return 0;
}

// What lies in a variable that is found through memory others may end.
struct file {
    struct buffer *buffer;
};

struct buffer {
    char *start;
};

struct context {
    struct file *file;
};

int parse(struct context *c);

int parsed(struct context *c) //~ clean
{
    struct file file;
    struct buffer buffer;
    int result;
    c->file = &file;
    c->file->buffer = &buffer;
    buffer.start = malloc(64);
    if (!buffer.start)
        return -1;
    result = parse(c);
    if (c->file->buffer->start)
        free(c->file->buffer->start);
    return result;
}

int parsed_privately(struct context *c)
{
    struct buffer buffer;
    buffer.start = malloc(64); //~ certain heap/leak
    if (!buffer.start)
        return -1;
    return parse(c);
}
