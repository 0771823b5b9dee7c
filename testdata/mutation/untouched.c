/* Nothing may be planted here. */
#include "queue.h"

/* The lock stays with the caller: not a function in which the calls are balanced. */
void queue_begin(struct queue *queue)
{
	spin_lock(&queue->lock);
	queue->count = 0;
}

/* What is locked depends on a condition that only a reader knows to be the same. */
void queue_reset(struct queue *queue, int shared)
{
	if (shared)
		spin_lock(&queue->lock);
	queue->count = 0;
	if (shared)
		spin_unlock(&queue->lock);
}

/* Two functions in one, of which one is compiled. */
void queue_trim(struct queue *queue)
{
#ifdef SHARED
	spin_lock(&queue->lock);
	queue->count--;
	spin_unlock(&queue->lock);
#endif
}

#ifdef SHARED
void queue_drop(struct queue *queue)
{
	spin_lock(&queue->lock);
	queue->count--;
	spin_unlock(&queue->lock);
}
#endif
