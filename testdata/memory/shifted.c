// A callee that shifts the elements of a table with a loop, and makes the table smaller where it can: when the number of elements changes, and when the
// pointer does, depends on the same conditions in all rounds of the loop.

#include <stdlib.h>

struct entry {
    char *name;
    int kind;
};

struct vector {
    int allocated;
    void **slot;
};

static void take_out(struct vector *v, int at)
{
    if (!v || !v->allocated || at < 0 || at >= v->allocated)
        return;
    for (int i = at + 1; i < v->allocated; i++)
        v->slot[i - 1] = v->slot[i];
    v->allocated -= 1;
    if (v->allocated <= 0) {
        free(v->slot);
        v->slot = NULL;
        v->allocated = 0;
    } else {
        void *smaller = realloc(v->slot, sizeof(void *) * v->allocated);

        if (smaller)
            v->slot = smaller;
    }
}

void drop_nameless(struct vector *v) //~ clean
{
    struct entry *e;

    for (int i = 0; v && i < v->allocated && (e = v->slot[i]); i++)
        if (!e->name) {
            take_out(v, i--);
            free(e);
        }
}

void drop_nameless_too_soon(struct vector *v)
{
    struct entry *e;

    for (int i = 0; v && i < v->allocated && (e = v->slot[i]); i++)
        if (!e->name) {
            free(e);
            take_out(v, i--);
            if (e->kind) //~ heap/use-after-free
                return;
        }
}
