//~ race/interleaved --entry P2 --filter-entry P1
// CBUGS, Figure 4: P1 takes away the input in which p is null, though it need not fail on it.
#include <assert.h>

void *__cassini_nondet_pointer(unsigned long);
int __cassini_nondet_int(void);
void __cassini_inputs_end(void);

struct st { int x, y; };
static struct st *p;

static void input(void)
{
    p = __cassini_nondet_pointer(sizeof *p);
    __cassini_inputs_end();
}

void P1(void)
{
    input();
    int t = __cassini_nondet_int();
    if (t)
        p->x = 0;
}

void P2(void)
{
    int t;
    input();
    p->x = 0;
    if (p->y > p->x)
        t = p->y - p->x;
    else
        t = p->x + p->y;
    assert(t >= 0); //~ here
}
