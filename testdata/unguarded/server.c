/* A program with threads: connections under a lock, with one place that forgets it. */
#include <pthread.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t lock;
    struct item *head;
    int count;
    int limit;
    long seen;
};

struct item {
    struct item *next;
    int value;
};

static struct queue *queue;

static struct queue *queue_new(int limit)
{
    struct queue *q = malloc(sizeof *q);
    if (!q)
        return NULL;
    pthread_mutex_init(&q->lock, NULL);
    q->head = NULL;
    q->count = 0; /* nobody else knows it yet */
    q->limit = limit;
    q->seen = 0;
    return q;
}

static void queue_free(struct queue *q)
{
    q->count = 0; /* nobody uses it any more */
    pthread_mutex_destroy(&q->lock);
    free(q);
}

void put(struct queue *q, struct item *i)
{
    pthread_mutex_lock(&q->lock);
    i->next = q->head;
    q->head = i;
    q->count++;
    pthread_mutex_unlock(&q->lock);
}

/* Called with the lock held. */
static struct item *first(struct queue *q)
{
    struct item *i = q->head;
    if (i) {
        q->head = i->next;
        q->count--;
    }
    return i;
}

struct item *get(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    struct item *i = first(q);
    pthread_mutex_unlock(&q->lock);
    return i;
}

struct item *get_either(struct queue *q, struct queue *other)
{
    struct item *i;
    pthread_mutex_lock(&q->lock);
    i = first(q);
    pthread_mutex_unlock(&q->lock);
    if (!i)
        i = get(other);
    return i;
}

int room(struct queue *q)
{
    int room;
    pthread_mutex_lock(&q->lock);
    room = q->limit - q->count;
    pthread_mutex_unlock(&q->lock);
    return room;
}

void drop_all(struct queue *q)
{
#ifdef FIXED
    pthread_mutex_lock(&q->lock);
#endif
    q->count = 0; //~ race/unguarded
#ifdef FIXED
    pthread_mutex_unlock(&q->lock);
#endif
}

static void *worker(void *given)
{
    struct queue *q = given;
    struct item *i;
    while ((i = get_either(q, queue)))
        free(i);
    if (room(q) == 0)
        drop_all(q);
    return NULL;
}

static void *feeder(void *given)
{
    struct queue *q = given;
    struct item *i = malloc(sizeof *i);
    if (i)
        put(q, i);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    queue = queue_new(10);
    if (!queue)
        return 1;
    queue->count = 0; /* before there are threads */
    pthread_create(&threads[0], NULL, worker, queue);
    pthread_create(&threads[1], NULL, feeder, queue);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    int left = queue->count; /* after they have ended */
    queue_free(queue);
    return left;
}
