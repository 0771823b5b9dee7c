/* Who takes a lock accesses it: a lock that lies in a block which was freed, or where there may be no block. */
typedef struct {
    int state[10];
} pthread_mutex_t;
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
int pthread_mutex_destroy(pthread_mutex_t *mutex);
void *malloc(unsigned long size);
void free(void *block);

struct queue {
    int length;
    pthread_mutex_t mutex;
};
struct queue *find_queue(int number);

void drop_locked(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    free(queue);
    pthread_mutex_unlock(&queue->mutex); //~ heap/use-after-free
}

void drop_unlocked(struct queue *queue) //~ clean
{
    pthread_mutex_lock(&queue->mutex);
    queue->length = 0;
    pthread_mutex_unlock(&queue->mutex);
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
}

int length_of(int number)
{
    struct queue *queue = find_queue(number);
    pthread_mutex_lock(&queue->mutex); //~ null/dereference
    if (!queue)
        return -1;
    int length = queue->length;
    pthread_mutex_unlock(&queue->mutex);
    return length;
}

int length_of_found(int number) //~ clean
{
    struct queue *queue = find_queue(number);
    if (!queue)
        return -1;
    pthread_mutex_lock(&queue->mutex);
    int length = queue->length;
    pthread_mutex_unlock(&queue->mutex);
    return length;
}

static void lock(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
}

struct queue *made_locked(void)
{
    struct queue *queue = malloc(sizeof *queue);
    lock(queue); //~ null/unchecked-result
    return queue;
}
