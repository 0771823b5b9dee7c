#include <pthread.h>

struct item {
	struct item *next;
};

struct queue {
	pthread_mutex_t lock;
	struct item *head;
	int length;
};

void queue_put(struct queue *queue, struct item *item)
{
	pthread_mutex_lock(&queue->lock);
	item->next = queue->head;
	queue->head = item;
	queue->length++;
	pthread_mutex_unlock(&queue->lock);
}

struct item *queue_take(struct queue *queue)
{
	struct item *item;

	pthread_mutex_lock(&queue->lock);
	item = queue->head;
	if (item) {
		queue->head = item->next;
		queue->length--;
	}
	pthread_mutex_unlock(&queue->lock);
	return item;
}

int queue_length(struct queue *queue)
{
	int length;

	pthread_mutex_lock(&queue->lock);
	length = queue->length;
	pthread_mutex_unlock(&queue->lock);
	return length;
}

void queue_clear(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->head = 0;
	queue->length = 0;
	pthread_mutex_unlock(&queue->lock);
}
