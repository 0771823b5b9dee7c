//~ clean --entry P2 --filter-entry P1
// CBUGS, Figure 6, with an array of four: P1 looks at any element, P2 at one.
#include <assert.h>

int __cassini_nondet_int(void);
void __cassini_assume(int);
void __cassini_inputs_end(void);

static int a[4], b;

static void input(void)
{
    for (int i = 0; i < 4; i++)
        a[i] = __cassini_nondet_int();
    b = __cassini_nondet_int();
    __cassini_inputs_end();
}

static int hash(int value)
{
    return (int)(((unsigned)value * 2654435761u >> 7) % 4);
}

void P1(void)
{
    input();
    int i = __cassini_nondet_int();
    int j = __cassini_nondet_int();
    __cassini_assume(i >= 0 && i < 4);
    if (j != 0)
        assert(a[i] >= 0);
}

void P2(void)
{
    input();
    int i = hash(b);
    assert(a[i] >= 0);
}
