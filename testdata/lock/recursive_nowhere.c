/* A program that makes no mutex recursive: not to know how one is initialised is no reason to doubt, unless it comes from elsewhere. */
#include <pthread.h>

struct box { pthread_mutex_t lock; int n; };
struct given { pthread_mutex_t lock; int n; };

struct box *box_of(int key);

static void box_add(struct box *b)
{
	pthread_mutex_lock(&b->lock);
	b->n++;
	pthread_mutex_unlock(&b->lock);
}

void box_fill(struct box *b)
{
	pthread_mutex_lock(&b->lock);
	box_add(b); //~ certain lock/double-lock
	pthread_mutex_unlock(&b->lock);
}

/* What an unknown function hands out may be recursive: the callee counts on that. */
void box_fill_found(int key)
{
	struct box *b = box_of(key);
	pthread_mutex_lock(&b->lock);
	box_add(b); //~ note lock/double-lock
	pthread_mutex_unlock(&b->lock);
}

/* Nobody takes a lock twice in a row and means it. */
void box_twice_found(int key)
{
	struct box *b = box_of(key);
	pthread_mutex_lock(&b->lock);
	b->n++;
	pthread_mutex_lock(&b->lock); //~ certain lock/double-lock
	pthread_mutex_unlock(&b->lock);
}

/* An attribute that comes from elsewhere, in a program without recursive ones. */
void given_init(struct given *g, const pthread_mutexattr_t *attr)
{
	pthread_mutex_init(&g->lock, attr);
}

void given_twice(struct given *g)
{
	pthread_mutex_lock(&g->lock);
	pthread_mutex_lock(&g->lock); //~ certain lock/double-lock
	g->n++;
	pthread_mutex_unlock(&g->lock);
}
