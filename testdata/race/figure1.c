//~ race/interleaved
// CBUGS, Figure 1: a request is used after it was completed. The input is any request; only the trace in which the cancel
// routine is read before it is unmarked is reported.
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

void __cassini_async();
void *__cassini_nondet_pointer(unsigned long);
_Bool __cassini_nondet_bool(void);

struct request {
    void (*cancel)(struct request *);
    bool completed;
};

static void cancel_request(struct request *request)
{
    assert(!request->completed); //~ here
}

static void read_request(struct request *request)
{
    assert(!request->completed);
    request->cancel = cancel_request;           /* WdfRequestMarkCancelable */
    request->cancel = NULL;                     /* WdfRequestUnmarkCancelable */
    request->completed = true;                  /* WdfRequestComplete */
}

static void cancel(struct request *request)
{
    void (*f)(struct request *) = request->cancel;
    request->cancel = NULL;
    if (f)
        f(request);
}

int main(void)
{
    static struct request request;
    request.completed = __cassini_nondet_bool();
    if (__cassini_nondet_bool())
        request.cancel = cancel_request;
    __cassini_async(read_request, &request);
    __cassini_async(cancel, &request);
    return 0;
}
