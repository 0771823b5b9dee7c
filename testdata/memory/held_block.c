// A pointer that is stored behind another one does not take the place of the pointer on the way there, but for lists.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void *realloc(void *block, size_t size);
void free(void *block);
_Noreturn void fatal(const char *message);

struct buffer {
    char *text;
    size_t size;
};

static struct buffer **stack;

int push_buffer(struct buffer *buffer)
{
    if (!stack && !(stack = malloc(sizeof *stack)))
        return -1;
    *stack = buffer;
    return 0;
}

void grow_buffer(size_t size) //~ clean
{
    (*stack)->text = realloc((*stack)->text, size);
    if (!(*stack)->text)
        fatal("out of memory");
    (*stack)->size = size;
}

void grow_buffer_unchecked(size_t size)
{
    (*stack)->text = realloc((*stack)->text, size);
    (*stack)->text[0] = 0; //~ null/unchecked-result
}

// A record in a record of another kind.
static struct {
    struct buffer *first, *last;
} pair;

size_t clear_first(void) //~ clean
{
    pair.first->text = 0;
    pair.first->size = 0;
    return pair.last->size;
}

struct window {
    struct buffer *shown;
    char *title;
};

static struct window *window;

void show(struct window *other)
{
    window = other;
}

size_t retitle(void) //~ clean
{
    window->shown->text = window->title;
    return window->shown->size;
}

size_t drop_text(void) //~ clean
{
    free(window->shown->text);
    window->shown->text = 0;
    return window->shown->size;
}

// Where the pointer that is written through is no member of a record.
struct output {
    char **slot;
    size_t written;
};

static struct output *output;

void write_to(struct output *other)
{
    output = other;
}

size_t fill_slot(void) //~ clean
{
    *output->slot = malloc(8);
    return output->written;
}

size_t clear_slot(void) //~ clean
{
    *output->slot = 0;
    return output->written;
}

// As `TAILQ_REMOVE` has it: the pointer to the element is replaced.
struct entry {
    struct entry *next, **previous;
};

static struct entry *first, **last;

static void remove_entry(struct entry *entry) //~ clean
{
    if (entry->next)
        entry->next->previous = entry->previous;
    else
        last = entry->previous;
    *entry->previous = entry->next;
}

void remove_first(void) //~ clean
{
    struct entry *entry = first;

    if (!entry)
        return;
    remove_entry(entry);
    free(entry);
}

void remove_entries(void)
{
    while (first) {
        struct entry *entry = first;

        if (entry->next) //~ note heap/use-after-free
            entry->next->previous = entry->previous;
        else
            last = entry->previous;
        *entry->previous = entry->next;
        free(entry);
    }
}

void free_entries_without_removing_them(void)
{
    while (first) {
        struct entry *entry = first;

        last = entry->previous; //~ certain heap/use-after-free
        free(entry);
    }
}

// A callee has filled the list, whose head is a variable.
struct head {
    struct entry *first, **last;
};

void fill_list(struct head *head);

void empty_list(void)
{
    struct head head = {0, &head.first};

    fill_list(&head);
    while (head.first) {
        struct entry *entry = head.first;

        if (entry->next) //~ note heap/use-after-free
            entry->next->previous = entry->previous;
        else
            head.last = entry->previous;
        *entry->previous = entry->next;
        free(entry);
    }
}

void empty_list_without_removing(void)
{
    struct head head = {0, &head.first};

    fill_list(&head);
    while (head.first) {
        struct entry *entry = head.first;

        head.last = entry->previous; //~ certain heap/use-after-free
        free(entry);
    }
}
