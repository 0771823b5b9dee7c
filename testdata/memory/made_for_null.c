// A function that allocates only if its argument is null, and else gives out a part of the block that the argument leads to.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void free(void *block);

struct block {
    struct block *next;
    size_t used;
    char bytes[1000];
};

static void *get(struct block *block, size_t size) //~ clean
{
    void *part;

    if (size == 0)
        return 0;
    if (!block)
        return malloc(size);
    size = (size + 7) / 8 * 8;
    while (block->used + size > sizeof block->bytes) {
        if (block->next) {
            block = block->next;
        } else {
            block->next = malloc(sizeof *block);
            if (!block->next)
                return 0;
            block = block->next;
            block->next = 0;
            block->used = 0;
            break;
        }
    }
    part = block->bytes + block->used;
    block->used += size;
    return part;
}

struct command {
    char **arguments;
    int count;
};

struct reader {
    struct block *block;
};

// The reader's block has the parts.
int read_command(struct reader *reader, int count, struct command **command) //~ clean
{
    struct command *made = get(reader->block, sizeof *made);

    if (!made)
        return -1;
    made->count = count;
    made->arguments = get(reader->block, count * sizeof *made->arguments);
    if (!made->arguments)
        return -1;
    *command = made;
    return 0;
}

int forget_command(int count)
{
    struct command *made = get(0, sizeof *made); //~ heap/leak

    if (!made)
        return -1;
    made->count = count;
    return made->count;
}

// Where nothing is made nothing is returned either: that there is something to copy is no excuse.
char *strdup(const char *text);

static char *copy(const char *text)
{
    return text ? strdup(text) : 0;
}

struct names {
    char *first, *second;
};

int lose_copies(struct names *names)
{
    char *first = copy(names->first); //~ heap/leak

    return first && first[0] == '/';
}
