// Members of a union lie in one place: what says which one it is the analysis need not know.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void free(void *block);

struct answer {
    unsigned short alias;
    unsigned short count;
    union {
        char *name;
        unsigned *addresses;
    } u;
    char *text;
};

void freed_as_either(struct answer *a)
{
    if (a->alias)
        free(a->u.name);
    if (a->count > 1)
        free(a->u.addresses); //~ note heap/double-free
}

void freed_as_the_same(struct answer *a)
{
    if (a->alias)
        free(a->text);
    if (a->count > 1)
        free(a->text); //~ certain heap/double-free
}

unsigned compared_as_the_other(struct answer *a)
{
    int known = 0;
    if (a->u.name)
        known = 1;
    if (a->count)
        return a->u.addresses[0]; //~ note null/dereference
    return known;
}

unsigned compared_as_the_same(struct answer *a)
{
    int known = 0;
    if (a->text)
        known = 1;
    if (a->count)
        return a->text[0]; //~ certain null/dereference
    return known;
}
