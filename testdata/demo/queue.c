#include "relay.h"

#include <string.h>

void queue_init(struct queue *q)
{
	memset(q, 0, sizeof(*q));
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->more, NULL);
}

/* 0, or -1 if the queue is closed or full. */
int queue_push(struct queue *q, const struct job *job)
{
	pthread_mutex_lock(&q->lock);
	if (q->closed) {
		q->refused++;
		goto refuse;
	}
	if (q->length == QUEUE_MAX) {
		q->refused++;
		pthread_mutex_unlock(&q->lock);
		log_line("job %d: the queue is full", job->id);
		goto refuse;
	}
	q->jobs[(q->head + q->length) % QUEUE_MAX] = *job;
	q->length++;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->lock);
	return 0;

refuse:
	pthread_mutex_unlock(&q->lock); /* BUG: released already when the queue was full */
	return -1;
}

/* Expects q->lock held and the queue not empty. */
static void take_first(struct queue *q, struct job *out)
{
	*out = q->jobs[q->head];
	q->head = (q->head + 1) % QUEUE_MAX;
	q->length--;
}

/* Waits for a job. 0, or -1 when the queue is closed and empty. */
int queue_pop(struct queue *q, struct job *out)
{
	pthread_mutex_lock(&q->lock);
	while (q->length == 0 && !q->closed)
		pthread_cond_wait(&q->more, &q->lock);
	if (q->length == 0) {
		pthread_mutex_unlock(&q->lock);
		return -1;
	}
	take_first(q, out);
	pthread_mutex_unlock(&q->lock);
	return 0;
}

/* As queue_pop, but does not wait for anything. */
int queue_try_pop(struct queue *q, struct job *out)
{
	int found = 0;

	if (pthread_mutex_trylock(&q->lock) != 0)
		return -1;
	if (q->length > 0) {
		take_first(q, out);
		found = 1;
	}
	pthread_mutex_unlock(&q->lock);
	return found ? 0 : -1;
}

/* Moves all jobs that fit. Locks in the order of the addresses. */
int queue_move(struct queue *from, struct queue *to)
{
	struct queue *first = from < to ? from : to;
	struct queue *second = from < to ? to : from;
	int moved = 0;

	if (from == to)
		return 0;
	pthread_mutex_lock(&first->lock);
	pthread_mutex_lock(&second->lock);
	while (from->length > 0 && to->length < QUEUE_MAX) {
		take_first(from, &to->jobs[(to->head + to->length) % QUEUE_MAX]);
		to->length++;
		moved++;
	}
	pthread_mutex_unlock(&second->lock);
	pthread_mutex_unlock(&first->lock);
	return moved;
}

void queue_close(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = 1;
	pthread_cond_broadcast(&q->more);
	pthread_mutex_unlock(&q->lock);
}
