//~ clean
// CBUGS, Figure 2: two requests that may be one and whose stack locations may be one. Every failure shows in a sequential order.
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

void __cassini_async();
_Bool __cassini_nondet_bool(void);
int __cassini_nondet_int(void);

struct location { bool completed; int length; };
struct irp { bool completed; int status; struct location *location; };

static void complete(struct irp *irp)
{
    irp->completed = true;
    irp->location->completed = true;
}

static void serial(struct irp *irp)
{
    assert(!irp->completed);
    irp->status = 1;
    assert(!irp->completed);
    struct location *location = irp->location;
    assert(!location->completed);
    if (location->length) {
        /* put into a queue */
    } else {
        assert(!irp->completed);
        complete(irp);
    }
}

static void serial_write(struct irp *irp) { serial(irp); }
static void serial_read(struct irp *irp) { serial(irp); }

int main(void)
{
    static struct irp irps[2];
    static struct location locations[2];
    for (int i = 0; i < 2; i++) {
        irps[i].completed = __cassini_nondet_bool();
        irps[i].location = __cassini_nondet_bool() ? &locations[0] : &locations[1];
        locations[i].completed = __cassini_nondet_bool();
        locations[i].length = __cassini_nondet_int();
    }
    struct irp *other = __cassini_nondet_bool() ? &irps[0] : &irps[1];
    __cassini_async(serial_write, &irps[0]);
    __cassini_async(serial_read, other);
    return 0;
}
