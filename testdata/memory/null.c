// Pointers that are followed where they are null.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void *memcpy(void *to, const void *from, size_t size);
char *strcpy(char *to, const char *from);
void free(void *block);
void abort(void) __attribute__((noreturn));
int log_line(const char *text);
int outside(int value);

struct node {
    int value;
    struct node *next;
};

int tested_and_followed(struct node *n)
{
    if (!n)
        log_line("none");
    return n->value; //~ certain null/dereference
}

int tested_and_left(struct node *n) //~ clean
{
    if (!n)
        return -1;
    return n->value;
}

int tested_and_ended(struct node *n) //~ clean
{
    if (!n)
        abort();
    return n->value;
}

int null_on_one_way(int there)
{
    struct node here = { 1, 0 };
    struct node *n = 0;
    if (there)
        n = &here;
    return n->value; //~ certain null/dereference
}

int null_on_no_way(int there) //~ clean
{
    struct node here = { 1, 0 };
    struct node *n = 0;
    if (there)
        n = &here;
    return there ? n->value : 0;
}

int unchecked(void)
{
    struct node *n = malloc(sizeof *n);
    int value;
    n->value = 1; //~ certain null/unchecked-result
    value = n->value;
    free(n);
    return value;
}

void unchecked_in_library(void)
{
    char *text = malloc(10);
    strcpy(text, "text"); //~ certain null/unchecked-result
    free(text);
}

static struct node *make(void)
{
    struct node *n = malloc(sizeof *n);
    if (!n)
        return 0;
    n->value = 0;
    n->next = 0;
    return n;
}

void unchecked_by_way_of_a_function(void)
{
    struct node *n = make();
    n->value = 2; //~ null/unchecked-result
    free(n);
}

static int follow(struct node *n)
{
    return n->value;
}

int null_is_passed(void)
{
    return follow(0); //~ certain null/dereference
}

static int follow_if_there(struct node *n)
{
    return n ? n->value : 0;
}

int null_is_welcome(void) //~ clean
{
    return follow_if_there(0);
}

static struct node *find(struct node *n, int value)
{
    while (n && n->value != value)
        n = n->next;
    return n;
}

int found_without_doubt(struct node *list) //~ clean
{
    return find(list, 3)->value;
}

// The search may always end before the list does.
int searched(struct node *n, int value)
{
    while (n && n->value != value)
        n = n->next;
    return n->next != 0; //~ note null/dereference
}

// Compared with null on another way.
struct connection {
    int open;
    struct buffer {
        char *end, *last;
    } *out;
};

struct buffer *new_buffer(void);

long room(struct connection *c)
{
    struct buffer *b;

    if (!c->open) {
        b = c->out;
        if (!b) {
            b = new_buffer();
            c->out = b;
        }
        c->open = 1;
    }
    b = c->out;
    return b->end - b->last; //~ note null/dereference
}

long room_after_a_look(struct connection *c)
{
    struct buffer *b = c->out;

    if (!b)
        c->open = 0;
    return b->end - b->last; //~ certain null/dereference
}

// What is equal to a variable that is null is not therefore null.
struct part {
    char *start;
    long size;
    struct part *next;
};

long joined(struct part *in, long *sizes)
{
    char *end = 0;
    long *last = 0;

    for (; in; in = in->next) {
        if (end == in->start)
            *last += in->size; //~ note null/dereference
        else
            last = sizes++;
        end = in->start + in->size;
    }
    return last ? *last : 0;
}
