#include "queue.h"

int queue_length(struct queue *queue)
{
	int length;

	spin_lock(&queue->lock);
	length = queue->count;
	spin_unlock(&queue->lock);
	return length;
}

int queue_add(struct queue *queue, int item)
{
	/* spin_lock(&queue->lock); is only said here */
	spin_lock(&queue->lock);
	if (queue->count == LIMIT) {
		spin_unlock(&queue->lock);
		return -1;
	}
	queue->items[queue->count++] = item;
	spin_unlock(&queue->lock);
	return 0;
}

/* The two are never locked at once. */
void queue_copy(struct queue *from, struct queue *to)
{
	int count;

	spin_lock(&from->lock);
	count = from->count;
	spin_unlock(&from->lock);

	spin_lock(&to->lock);
	to->count = count;
	spin_unlock(&to->lock);
}

void queue_clear(struct queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	queue->count = 0;
	spin_unlock_irqrestore(&queue->lock, flags);
}
