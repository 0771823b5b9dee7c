// A pointer that leads to one of more blocks than are told apart.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void free(void *block);

static char *grow(char *old)
{
    char *made = malloc(16);

    if (made)
        free(old);
    return made;
}

int grown_often(const int *n) //~ clean
{
    int result = -1;
    char *q, *p = malloc(8);

    if (!p)
        return -1;
    if (n[0] && !(q = grow(p)))
        goto out;
    if (n[0])
        p = q;
    if (n[1] && !(q = grow(p)))
        goto out;
    if (n[1])
        p = q;
    if (n[2] && !(q = grow(p)))
        goto out;
    if (n[2])
        p = q;
    if (n[3] && !(q = grow(p)))
        goto out;
    if (n[3])
        p = q;
    if (n[4] && !(q = grow(p)))
        goto out;
    if (n[4])
        p = q;
    if (n[5] && !(q = grow(p)))
        goto out;
    if (n[5])
        p = q;
    if (n[6] && !(q = grow(p)))
        goto out;
    if (n[6])
        p = q;
    if (n[7] && !(q = grow(p)))
        goto out;
    if (n[7])
        p = q;
    if (n[8] && !(q = grow(p)))
        goto out;
    if (n[8])
        p = q;
    if (n[9] && !(q = grow(p)))
        goto out;
    if (n[9])
        p = q;
    if (n[10] && !(q = grow(p)))
        goto out;
    if (n[10])
        p = q;
    if (n[11] && !(q = grow(p)))
        goto out;
    if (n[11])
        p = q;
    if (n[12] && !(q = grow(p)))
        goto out;
    if (n[12])
        p = q;
    if (n[13] && !(q = grow(p)))
        goto out;
    if (n[13])
        p = q;
    result = 0;
out:
    free(p);
    return result;
}

int grown_often_and_lost(const int *n)
{
    char *q, *p = malloc(8); //~ certain heap/leak

    if (!p)
        return -1;
    if (n[0] && (q = grow(p))) //~ certain heap/leak
        p = q;
    return *n;
}
