/* Wrong answers that we know of. Each is counted, and seen the day it changes. */
#include <pthread.h>
#include <stddef.h>

struct object { pthread_mutex_t lock; int value; };
int work(int);

static pthread_mutex_t nested_lock;

void setup(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&nested_lock, &attr);
}

/* A recursive mutex may be locked again. */
void recursive_mutex(void) //~ clean
{
	pthread_mutex_lock(&nested_lock);
	pthread_mutex_lock(&nested_lock);
	work(1);
	pthread_mutex_unlock(&nested_lock);
	pthread_mutex_unlock(&nested_lock);
}

static const int debugging = 0;

/* A constant that nothing writes. */
int leave_when_debugging(struct object *o) //~ clean
{
	pthread_mutex_lock(&o->lock);
	if (debugging)
		return work(0);
	pthread_mutex_unlock(&o->lock);
	return work(1);
}

/* The error path keeps the lock, but the result tells: a caller could handle it, and none does. */
int error_keeps_lock(struct object *o)
{
	pthread_mutex_lock(&o->lock);
	if (work(o->value) < 0)
		return -1; //~ lock/held-on-exit
	pthread_mutex_unlock(&o->lock);
	return 0;
}

static void swap(struct object *a, struct object *b)
{
	int value;

	pthread_mutex_lock(&a->lock);
	pthread_mutex_lock(&b->lock);
	value = a->value;
	a->value = b->value;
	b->value = value;
	pthread_mutex_unlock(&b->lock);
	pthread_mutex_unlock(&a->lock);
}

/* Two parameters are taken to be different objects. */
void swap_with_itself(struct object *o)
{
	swap(o, o); //~ known-miss lock/double-lock
}

/* Later than the iterations that are unrolled. */
void fifth_round(struct object *o, int n)
{
	int i;

	pthread_mutex_lock(&o->lock);
	for (i = 0; i < n; i++)
		if (i == 5)
			pthread_mutex_lock(&o->lock); //~ known-miss lock/double-lock
	pthread_mutex_unlock(&o->lock);
}

static pthread_mutex_t table_lock;
static int ready;

/* The second look is at what another thread may have changed: here it sees what the first one saw. */
int look_twice(void)
{
	if (!ready) {
		pthread_mutex_lock(&table_lock);
		if (ready)
			return 1; //~ known-miss lock/inconsistent-exit
		ready = 1;
		pthread_mutex_unlock(&table_lock);
	}
	return 1;
}

struct worker { pthread_mutex_t lock; int threaded; };

/* Taken under one condition and given back under its opposite, both told by an argument: a caller could use it so. */
void lock_or_unlock(struct worker *w)
{
	int threaded = w->threaded;

	if (threaded)
		pthread_mutex_lock(&w->lock);
	work(threaded);
	if (!threaded)
		pthread_mutex_unlock(&w->lock); //~ known-miss lock/unlock-unheld
}
