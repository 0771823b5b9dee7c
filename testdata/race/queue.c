//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct { int element[4]; int head, tail, amount; } Queue;
static Queue queue;
static int stored[3];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int ready, next_expected;

static int enqueue(Queue *q, int x)
{
    q->element[q->tail] = x;
    q->amount++;
    q->tail = (q->tail + 1) % 4;
    return 0;
}

static int dequeue(Queue *q)
{
    int x = q->element[q->head];
    q->amount--;
    q->head = (q->head + 1) % 4;
    return x;
}

static void *sender(void *arg)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        stored[i] = i + 1;
#ifdef FIXED
        enqueue(&queue, stored[i]);
#endif
        pthread_mutex_unlock(&m);
#ifndef FIXED
        enqueue(&queue, stored[i]);
#endif
    }
    return NULL;
}

static void *receiver(void *arg)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        if (queue.amount > 0) {
            int x = dequeue(&queue);
            assert(x == stored[next_expected]);
            next_expected++;
        }
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, sender, &queue);
    pthread_create(&b, NULL, receiver, &queue);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(queue.amount == 3 - next_expected);
    return 0;
}
