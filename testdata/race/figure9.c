//~ clean
// CBUGS, Figure 9: the failure at L2 needs four switches, but on the same input the sequential order may fail at L3.
#include <stddef.h>

void __cassini_async();
void *__cassini_nondet_pointer(unsigned long);
_Bool __cassini_nondet_bool(void);

int x;

void foo(void)
{
    if (x == 0)
        x = 1;
    if (x == 2)
        x = 3;
}

void bar(int *p)
{
    if (__cassini_nondet_bool()) {
        if (x == 1)
            x = 2;
        if (x == 3)
            *p = 10;
    } else {
        *p = 5;
    }
}

int main(void)
{
    int *p = __cassini_nondet_pointer(sizeof *p);
    x = 0;
    __cassini_async(foo);
    __cassini_async(bar, p);
    return 0;
}
