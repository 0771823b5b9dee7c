/* The examples of "Almost-Correct Specifications" (PLDI'13), as C. A marker tells the strictest filter that reports a failure. */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

typedef enum { READ, WRITE } CMD;
typedef struct { int a, b; } twoints;

int __cassini_nondet_int(void);
int static_returns_t(void);
void *lookup(int count, size_t size);
void use(int value);

/* Figure 1: the return after the second pair is missing. The last line fails only if the one before has failed. */
void figure_1(int *c, char *buf, CMD cmd)
{
    if (__cassini_nondet_int()) {
        free(c);
        free(buf);
        return;
    }
    if (cmd == READ) {
        if (__cassini_nondet_int()) {
            free(c);
            free(buf);
        }
    }
    free(c); //~ conc heap/double-free
    free(buf); //~ demonic heap/double-free
}

/* Figure 2: of a function that nothing is known of. */
void figure_2(void)
{
    twoints *data = NULL;
    data = lookup(100, sizeof(twoints));
    if (static_returns_t()) {
        data[0].a = 1; //~ a1 null/dereference
    } else {
        if (data != NULL)
            data[0].a = 1;
    }
}

/* The same of one that may fail, as everybody knows: no specification says that it does not. */
void figure_2_known(twoints **out)
{
    twoints *data = NULL;
    data = calloc(100, sizeof(twoints));
    *out = data;
    if (static_returns_t()) {
        data[0].a = 1; //~ conc null/unchecked-result
    } else {
        if (data != NULL)
            data[0].a = 1;
    }
}

/* Section 4.4.2. */
void ignored_conditionals(int c1, int c2, int *x)
{
    if (c1) {
        if (x)
            *x = 1;
    }
    if (c2)
        *x = 2; //~ a1 null/dereference
}

/* Section 5.1.1: only pruning the specification to one literal reports this. */
int pruned(int *key)
{
    char *grid = lookup(1, 1);
    if (grid == NULL)
        return 0;
    return *key;
}

struct record { int field; };
#define CheckField(x, a) (x != NULL && x->field == a)
#define SL_ASSERT(e) if (!(e)) assert(0)

/* Section 5.1.3: a macro that compares with NULL for all its users. That explains the failure, so that no filter shows it. */
int defensive(struct record *x, int a)
{
    int y = x->field;
    if (CheckField(x, a))
        y++;
    return y;
}

/* Section 5.1.3: nobody expects to come to where an assertion fails. */
int asserted(struct record *x)
{
    SL_ASSERT(x != NULL); //~ demonic assert/failure
    return x->field;
}

/* Section 5.1.3: a length says whether there is a buffer. */
void process(size_t length, char *buffer)
{
    if (length >= 1) {
        for (size_t i = 0; i < length; ++i)
            buffer[i] = 0; //~ a1 null/dereference
    }
    if (buffer != NULL)
        use(buffer[0]);
}

/* Section 6: no input satisfies both. */
void opposite(int e)
{
    if (__cassini_nondet_int())
        assert(e); //~ conc assert/failure
    else
        assert(!e); //~ conc assert/failure
}

/* The condition is the caller's: it may go with `e`. */
void opposite_by_argument(int c, int e)
{
    if (c)
        assert(e); //~ a1 assert/failure
    else
        assert(!e); //~ a1 assert/failure
}

/* Followed first, compared then. */
int followed_first(struct record *x)
{
    x->field = 1; //~ conc null/dereference
    if (!x)
        return 0;
    return 1;
}
