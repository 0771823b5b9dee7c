/* The helpers are called with the lock held: they cannot be interrupted, and none of this is a race. */
#include <pthread.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t lock;
    int *items;
    int used;
};

static int first(struct queue *queue)
{
    if (!queue->items)
        return -1;
    return queue->items[0];
}

static void drop(struct queue *queue)
{
    free(queue->items);
    queue->items = NULL;
    queue->used = 0;
}

int queue_first(struct queue *queue)
{
    int item;

    pthread_mutex_lock(&queue->lock);
    item = first(queue);
    pthread_mutex_unlock(&queue->lock);
    return item;
}

void queue_drop(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    drop(queue);
    pthread_mutex_unlock(&queue->lock);
}
