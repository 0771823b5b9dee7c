/* What a small function loses is its own affair: its callers, into which it is inlined, are not told of it again. */
void *malloc(unsigned long size);
void free(void *block);

struct pair {
    char *left;
    char *right;
};

struct pair *pair_of(char *left, char *right);

static struct pair *make_pair(void)
{
    char *left = malloc(8); //~ heap/leak
    char *right = malloc(8); //~ heap/leak
    if (left && right)
        return pair_of(left, right);
    return 0;
}

struct pair *pair_for(int wanted) //~ clean
{
    if (!wanted)
        return 0;
    return make_pair();
}

static char *make_one(void) //~ clean
{
    return malloc(8);
}

int forgets(void)
{
    char *one = make_one(); //~ heap/leak
    return one != 0;
}

/* Behind a null pointer that is followed for certain nothing is lost. */
struct item {
    struct item *next;
};

int append_to_none(int follow)
{
    struct item *last = 0;
    struct item *item = malloc(sizeof *item);
    if (!item)
        return -1;
    if (follow)
        last->next = item; //~ null/dereference
    else
        free(item);
    return 0;
}
