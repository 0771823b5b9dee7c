/* A text that a wrapper of realloc has grown belongs to who is given it. What is given away with what lies in a block matters only if the block
   can be found by that. */
void *malloc(unsigned long size);
void *realloc(void *block, unsigned long size);
void free(void *block);
void abort(void) __attribute__((noreturn));
int next_char(void);
int closed(void);

void *grown_or_abort(void *block, unsigned long size)
{
    void *grown = realloc(block, size);
    if (!grown)
        abort();
    return grown;
}

static char *line_read(int open)
{
    char *line = 0;
    unsigned long length = 0;
    int next;
    if (!open)
        return 0;
    while ((next = next_char()) > 0) {
        line = grown_or_abort(line, length + 2);
        line[length++] = next;
        line[length] = 0;
    }
    return line;
}

char *line_of_closed(int open)
{
    char *line = line_read(open); //~ heap/leak
    if (closed())
        return 0;
    return line;
}

char *line_of_closed_freed(int open) //~ clean
{
    char *line = line_read(open);
    if (closed()) {
        free(line);
        return 0;
    }
    return line;
}

struct handle {
    int number;
    long room[4];
    struct handle *self;
};

static void lead_to_itself(struct handle *handle)
{
    handle->self = handle;
}

static struct handle *new_handle(int number)
{
    struct handle *handle = malloc(sizeof *handle);
    if (!handle)
        abort();
    handle->number = number;
    lead_to_itself(handle);
    return handle;
}

static struct handle *last;

static void keep_self(struct handle *handle)
{
    last = handle->self;
}

void found_by_itself(int number) //~ clean
{
    keep_self(new_handle(number));
}

struct pair {
    struct handle *first;
    int number;
};

struct pair *new_pair(int number)
{
    struct pair *pair = malloc(sizeof *pair);
    if (!pair)
        abort();
    pair->first = last;
    pair->number = number;
    return pair;
}

static void first_is_last(struct pair *pair)
{
    last = pair->first;
}

void not_found_by_what_it_holds(int number)
{
    struct pair *pair = new_pair(number); //~ heap/leak
    first_is_last(pair);
}

/* Its end is left where the caller asks for that. */
static char *repeated(const char *text, int count, char **end)
{
    char *all = malloc(count * 8 + 1), *to = all;
    int i;
    if (!all)
        abort();
    for (i = 0; i < count; i++)
        *to++ = text[i & 7];
    *to = 0;
    if (end)
        *end = to;
    return all;
}

char *repeated_twice(const char *text, char **end)
{
    return repeated(text, 2, end);
}

int first_repeated(const char *text)
{
    char *all = repeated_twice(text, 0); //~ heap/leak
    return all[0];
}

static char *last_end;

int first_of_kept(const char *text) //~ clean
{
    char *all = repeated_twice(text, &last_end);
    return all[0];
}

int first_of_ended(const char *text)
{
    char *end;
    char *all = repeated_twice(text, &end); //~ known-miss heap/leak
    return end - all;
}

char *replaced(char **text, int count)
{
    char *all = repeated("12345678", count, 0);
    free(*text);
    *text = all;
    return all;
}

int first_replaced(int count) //~ clean
{
    char *text = 0;
    int first = replaced(&text, count)[0];
    free(text);
    return first;
}
