// bad1: 667 lock/inconsistent-exit the queue stays locked when it is full
// bad2: 667 lock/inconsistent-exit the queue stays locked when the item is not found
// bad3: 764 lock/double-lock the size is asked for with the lock held, which takes it
// bad4: 765 lock/double-unlock the lock is released in the loop and behind it
// bad5: 832 lock/unlock-unheld the lock is released on the way out that comes before it is taken
// ---- header
struct queue {
    pthread_mutex_t lock;
    int items[8];
    int count;
};
// ---- a
static int @_size(struct queue *queue)
{
    int count;

    pthread_mutex_lock(&queue->lock);
    count = queue->count;
    pthread_mutex_unlock(&queue->lock);
    return count;
}

static int @_push(struct queue *queue, int item)
{
    if (item < 0) {
        pthread_mutex_unlock(&queue->lock); // bad5
        return -1;
    }
    pthread_mutex_lock(&queue->lock);
    if (queue->count == 8) {
        pthread_mutex_unlock(&queue->lock); // not bad1
        return -1;
    }
    queue->items[queue->count++] = item;
    if (@_size(queue) == 8) // bad3
    if (queue->count == 8) // not bad3
        puts("full");
    pthread_mutex_unlock(&queue->lock);
    return 0;
}

static int @_find(struct queue *queue, int item)
{
    int at;

    pthread_mutex_lock(&queue->lock);
    for (at = 0; at < queue->count; at++) {
        if (queue->items[at] == item) {
            pthread_mutex_unlock(&queue->lock);
            break; // bad4
            return at; // not bad4
        }
    }
    if (at == 5) // bad2
        return -1; // bad2
    pthread_mutex_unlock(&queue->lock);
    return -1;
}

void @(void)
{
    static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

    @_push(&queue, 3);
    printf("%d %d\n", @_find(&queue, 3), @_size(&queue));
}
