// Blocks of memory: used after they were freed, freed again, lost.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void free(void *block);
char *strdup(const char *text);
size_t strlen(const char *text);
void outside(void *block);

struct node {
    int value;
    struct node *next;
    char *name;
};

struct node *all;

int read_after_free(void)
{
    struct node *n = malloc(sizeof *n);
    if (!n)
        return -1;
    n->value = 1;
    free(n);
    return n->value; //~ certain heap/use-after-free
}

int read_before_free(void) //~ clean
{
    struct node *n = malloc(sizeof *n);
    int value;
    if (!n)
        return -1;
    n->value = 1;
    value = n->value;
    free(n);
    return value;
}

void freed_twice(int busy)
{
    char *text = malloc(10);
    if (!text)
        return;
    if (busy)
        free(text);
    free(text); //~ certain heap/double-free
}

void freed_and_forgotten(int busy) //~ clean
{
    char *text = malloc(10);
    if (!text)
        return;
    if (busy) {
        free(text);
        text = 0;
    }
    free(text);
}

int lost_on_failure(int busy)
{
    char *text = malloc(10); //~ certain heap/leak
    if (!text)
        return -1;
    if (busy)
        return -2;
    free(text);
    return 0;
}

int freed_on_failure(int busy) //~ clean
{
    char *text = malloc(10);
    if (!text)
        return -1;
    if (busy) {
        free(text);
        return -2;
    }
    free(text);
    return 0;
}

void walk_and_free(void)
{
    struct node *n;
    for (n = all; n; n = n->next) //~ certain heap/use-after-free
        free(n);
}

void walk_and_free_well(void) //~ clean
{
    struct node *n = all;
    while (n) {
        struct node *next = n->next;
        free(n);
        n = next;
    }
    all = 0;
}

void kept_in_list(int value) //~ clean
{
    struct node *n = calloc(1, sizeof *n);
    if (!n)
        return;
    n->value = value;
    n->next = all;
    all = n;
}

char *grown_and_lost(char *text, size_t size) //~ clean
{
    return realloc(text, size);
}

int old_block_lost(size_t size)
{
    char *text = malloc(size); //~ certain heap/leak
    if (!text)
        return -1;
    text = realloc(text, size * 2);
    if (!text)
        return -1;
    free(text);
    return 0;
}

int old_block_kept(size_t size) //~ clean
{
    char *text = malloc(size), *grown;
    if (!text)
        return -1;
    grown = realloc(text, size * 2);
    if (!grown) {
        free(text);
        return -1;
    }
    free(grown);
    return 0;
}

void freed_from_the_stack(void)
{
    char text[10];
    free(text); //~ certain heap/bad-free
}

void freed_further_on(void)
{
    char *text = malloc(10);
    if (!text)
        return;
    text++;
    free(text); //~ certain heap/bad-free
}

void handed_to_a_stranger(void) //~ clean
{
    char *text = malloc(10);
    outside(text);
}

void only_read_by_a_library(void)
{
    char *text = strdup("text"); //~ certain heap/leak
    if (!text)
        return;
    strlen(text);
}

// A callee frees what is freed already, and what is no block.
static void drop_text(char *text) //~ clean
{
    free(text);
}

void dropped_again_by_callee(void)
{
    char *text = malloc(8);

    free(text);
    drop_text(text); //~ certain heap/double-free
}

void variable_dropped_by_callee(void)
{
    char text[8];

    drop_text(text); //~ certain heap/bad-free
}

// A place in a text is no block, but who knows how far it is from the beginning can go back.
char *strchr(const char *text, int c);

void word_freed(const char *line)
{
    char *text = strdup(line);
    char *word;

    if (!text)
        return;
    word = strchr(text, ' ');
    if (word)
        free(word); //~ certain heap/bad-free
    else
        free(text);
}

void word_of_known_length_freed(const char *line) //~ clean
{
    char *text = strdup(line);
    char *word;

    if (!text)
        return;
    word = strchr(text, ' ');
    if (word)
        free(word - 8);
    else
        free(text);
}

// What a callee has made, and freed, is gone.
static char *gone(void) //~ clean
{
    char *text = malloc(8);

    if (text)
        free(text);
    return text;
}

void gone_before_use(void)
{
    char *text = gone();

    if (text)
        text[0] = 0; //~ certain heap/use-after-free
}
