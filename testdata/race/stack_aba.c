//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct node { int next; int taken; };
static struct node nodes[3];
static atomic_ulong head;       /* the index, and above it a version */

static unsigned long version(unsigned long now)
{
#ifdef FIXED
    return ((now >> 8) + 1) << 8;
#else
    (void)now;
    return 0;
#endif
}

static int pop(void)
{
    for (;;) {
        unsigned long old = atomic_load(&head);
        int top = (int)(old & 0xff);
        if (top == 0)
            return 0;
        unsigned long next = (unsigned long)nodes[top].next;
        if (atomic_compare_exchange_strong(&head, &old, next | version(old)))
            return top;
    }
}

static void push(int which)
{
    for (;;) {
        unsigned long old = atomic_load(&head);
        nodes[which].next = (int)(old & 0xff);
        if (atomic_compare_exchange_strong(&head, &old, (unsigned long)which | version(old)))
            return;
    }
}

static void *one(void *unused)
{
    (void)unused;
    int got = pop();
    if (got)
        assert(__sync_lock_test_and_set(&nodes[got].taken, 1) == 0);
    return NULL;
}

static void *two(void *unused)
{
    (void)unused;
    int first = pop();
    int second = pop();
    if (second)
        assert(__sync_lock_test_and_set(&nodes[second].taken, 1) == 0);
    if (first)
        push(first);
    int third = pop();
    if (third)
        assert(__sync_lock_test_and_set(&nodes[third].taken, 1) == 0);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    nodes[2].next = 1;
    atomic_store(&head, 2);
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
