//~ clean AsyncGeneral
// CBUGS, Figure 11: only an order in which the cancel function runs first shows the failure on every input.
#include <stdbool.h>
#include <stddef.h>

void __cassini_async();
void *__cassini_nondet_pointer(unsigned long);
_Bool __cassini_nondet_bool(void);

struct irp { bool b, cancel; int *ptr; };

static void foo(struct irp *irp)
{
    *irp->ptr = 10;
}

static void read_fn(struct irp *irp)
{
    if (irp->b)
        *irp->ptr = 10;
    if (irp->cancel)
        foo(irp);
}

static void cancel_fn(struct irp *irp)
{
    irp->cancel = true;
}

int main(void)
{
    static int target;
    struct irp *irp = NULL;
    static struct irp one;
    if (__cassini_nondet_bool()) {
        irp = &one;
        irp->b = __cassini_nondet_bool();
        irp->cancel = __cassini_nondet_bool();
        irp->ptr = __cassini_nondet_bool() ? &target : NULL;
    }
    __cassini_async(read_fn, irp);
    __cassini_async(cancel_fn, irp);
    return 0;
}
