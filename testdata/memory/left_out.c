// What is lost only where a loop has nothing to go through.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void free(void *block);
int failed(void);

struct entry {
    struct entry *next;
    int value;
};

struct entry *all;

void register_all(const int *values, unsigned count)
{
    struct entry *entries = malloc(count * sizeof *entries); //~ note heap/leak
    if (!entries)
        return;
    for (unsigned i = 0; i < count; i++) {
        entries[i].value = values[i];
        entries[i].next = all;
        all = &entries[i];
    }
}

struct record {
    unsigned short count;
    int *value;
};

void fill(struct record *r, struct record *out)
{
    unsigned i = 0;
    int *copy = malloc(sizeof *copy * r->count); //~ note heap/leak
    if (!copy)
        return;
    if (r->count) {
        do {
            copy[i] = i;
            out[i].value = &copy[i];
        } while (++i < r->count);
    }
}

// The loop is never come to.
int given_up_before(const int *values, unsigned count)
{
    struct entry *entry = malloc(sizeof *entry); //~ certain heap/leak
    if (!entry)
        return -1;
    if (failed())
        return -1;
    for (unsigned i = 0; i < count; i++) {
        entry->value = values[i];
        all = entry;
    }
    return 0;
}

// The loop runs, and does not put it anywhere.
int not_found(const int *values, unsigned count)
{
    struct entry *entry = malloc(sizeof *entry); //~ certain heap/leak
    if (!entry)
        return -1;
    for (unsigned i = 0; i < count; i++) {
        if (values[i] == 7) {
            all = entry;
            return 1;
        }
    }
    return 0;
}
