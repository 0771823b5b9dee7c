/* Locks that a function keeps on its error path, seen through callers that look at the result or pass it on. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct queue { pthread_mutex_t lock; int length, closed; };

/* The caller returns the result as it is. */
static int push(struct queue *q, int n)
{
	pthread_mutex_lock(&q->lock);
	if (q->closed)
		return -5; //~ certain lock/held-on-exit
	q->length += n;
	pthread_mutex_unlock(&q->lock);
	return 0;
}

int push_one(struct queue *q) //~ clean
{
	return push(q, 1);
}

/* The caller looks at the result, and has one of its own. */
static int pop(struct queue *q, int n)
{
	pthread_mutex_lock(&q->lock);
	if (q->length < n)
		return -EAGAIN; //~ certain lock/held-on-exit
	q->length -= n;
	pthread_mutex_unlock(&q->lock);
	return 0;
}

int pop_one(struct queue *q) //~ clean
{
	if (pop(q, 1) < 0)
		return -1;
	return 0;
}

/* A positive error number, through a variable. Nothing in the program gives such a lock back that it has not taken. */
struct stack { pthread_mutex_t lock; int depth, closed; };

static int drop(struct stack *s)
{
	pthread_mutex_lock(&s->lock);
	if (s->closed)
		return EINVAL; //~ certain lock/held-on-exit
	s->depth = 0;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

int drop_all(struct stack *s) //~ clean
{
	int error = drop(s);

	if (error)
		return error;
	return 0;
}

/* Null is failure. */
static int *length(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	if (q->closed)
		return NULL; //~ certain lock/held-on-exit
	pthread_mutex_unlock(&q->lock);
	return &q->length;
}

int length_or(struct queue *q, int otherwise) //~ clean
{
	int *n = length(q);

	return n ? *n : otherwise;
}

/* The same, with callers that give the lock back where it is kept. */
static int push_kept(struct queue *q, int n) //~ clean
{
	pthread_mutex_lock(&q->lock);
	if (q->closed)
		return -5;
	q->length += n;
	pthread_mutex_unlock(&q->lock);
	return 0;
}

int push_and_reopen(struct queue *q) //~ clean
{
	if (push_kept(q, 1) < 0) {
		q->closed = 0;
		pthread_mutex_unlock(&q->lock);
		return -1;
	}
	return 0;
}

/* One that passes the lock on to who gives it back. */
static int push_passed_on(struct queue *q) //~ clean
{
	pthread_mutex_lock(&q->lock);
	if (q->closed)
		return -5;
	q->length++;
	pthread_mutex_unlock(&q->lock);
	return 0;
}

static int push_through(struct queue *q) //~ clean
{
	return push_passed_on(q);
}

void push_or_open(struct queue *q) //~ clean
{
	if (push_through(q) == -5) {
		q->closed = 0;
		pthread_mutex_unlock(&q->lock);
	}
}

/* Success with the lock held, failure without: an interface, whoever passes it on. */
static struct queue *table[16];

static int acquire(int at) //~ clean
{
	struct queue *q = table[at & 15];

	pthread_mutex_lock(&q->lock);
	if (q->closed) {
		pthread_mutex_unlock(&q->lock);
		return -1;
	}
	return 0;
}

int queue_acquire(int at) //~ clean
{
	if (at < 0)
		return -1;
	return acquire(at);
}

void queue_release(int at) //~ clean
{
	pthread_mutex_unlock(&table[at & 15]->lock);
}

/* Whether a positive number is failure only a reader knows: `queue_release` may be what gives this back. */
static int clear(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	if (q->closed)
		return EINVAL; //~ known-miss lock/held-on-exit
	q->length = 0;
	pthread_mutex_unlock(&q->lock);
	return 0;
}

int queue_clear(struct queue *q) //~ clean
{
	return clear(q);
}

/* A try that failed has nothing to give back. */
static bool try(struct queue *q) //~ clean
{
	return pthread_mutex_trylock(&q->lock) == 0;
}

bool queue_try(struct queue *q) //~ clean
{
	return try(q);
}

/* Up to the end of the program. */
static struct queue one = { PTHREAD_MUTEX_INITIALIZER, 0, 0 };

static int start(struct queue *q, size_t size)
{
	int error = -1;
	char *room;

	pthread_mutex_lock(&q->lock);
	room = malloc(size);
	if (!room)
		goto out;
	free(room);
	error = 0;
	pthread_mutex_unlock(&q->lock);
out:
	return error; //~ certain lock/held-on-exit
}

int main(void) //~ clean
{
	int error = start(&one, 80);

	if (error)
		return 1;
	return 0;
}
