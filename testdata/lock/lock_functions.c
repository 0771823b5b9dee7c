/* A program's own lock functions, one of a pair each, and functions that take or release the same lock by themselves. */
#include <pthread.h>

static pthread_mutex_t slabs = PTHREAD_MUTEX_INITIALIZER;
static int used;

void slabs_hold(void) //~ clean
{
	pthread_mutex_lock(&slabs);
}

int slabs_try(void) //~ clean
{
	return pthread_mutex_trylock(&slabs) == 0;
}

void slabs_drop(void) //~ clean
{
	pthread_mutex_unlock(&slabs);
}

int slabs_used(void) //~ clean
{
	int n;

	pthread_mutex_lock(&slabs);
	n = used;
	pthread_mutex_unlock(&slabs);
	return n;
}

/* Who calls slabs_hold() calls slabs_drop(), and not this. */
int slabs_free(int n)
{
	used -= n;
	pthread_mutex_unlock(&slabs); //~ certain lock/unlock-unheld
	return used;
}

int slabs_grow(int n) //~ clean
{
	slabs_hold();
	used += n;
	slabs_drop();
	return 0;
}

int slabs_shrink(int n)
{
	used -= n;
	slabs_drop(); //~ certain lock/unlock-unheld
	return 0;
}

/* One that does more than to release is another half that callers may know of: the pair is this, not slabs_free's. */
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static int length;

void queue_hold(void) //~ clean
{
	pthread_mutex_lock(&queue);
}

void queue_put(int n) //~ clean
{
	length += n;
	pthread_mutex_unlock(&queue);
}

/* Any mutex: which one must be held is said by those who call it. */
static inline void hold(pthread_mutex_t *mutex) //~ clean
{
	pthread_mutex_lock(mutex);
}

static inline void drop(pthread_mutex_t *mutex) //~ clean
{
	pthread_mutex_unlock(mutex);
}

struct device { pthread_mutex_t lock; pthread_mutex_t events; int open; };

int device_open(struct device *d) //~ clean
{
	hold(&d->lock);
	d->open++;
	drop(&d->lock);
	return 0;
}

int device_close(struct device *d)
{
	d->open--;
	drop(&d->lock); //~ certain lock/unlock-unheld
	return 0;
}

/* This pair of another mutex says nothing of the first. */
void device_hold_events(struct device *d) //~ clean
{
	hold(&d->events);
}

void device_drop_events(struct device *d) //~ clean
{
	drop(&d->events);
}

/* An operation of a table that does nothing but release is the other half of one that does more than take. */
static pthread_mutex_t formats = PTHREAD_MUTEX_INITIALIZER;
struct operations { int (*start)(int); void (*stop)(void); };

static void formats_hold(void) //~ clean
{
	pthread_mutex_lock(&formats);
}

static int formats_start(int n) //~ clean
{
	formats_hold();
	return used + n;
}

static void formats_stop(void) //~ clean
{
	pthread_mutex_unlock(&formats);
}

const struct operations format_operations = { formats_start, formats_stop };

/* Handlers of fork: the one before it takes the lock, and both behind it release it, one in the parent and one in the child. */
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void) //~ clean
{
	pthread_mutex_lock(&registry);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&registry); //~ known-false-positive note lock/unlock-unheld
}

static void in_child(void)
{
	used = 0;
	pthread_mutex_unlock(&registry); //~ known-false-positive note lock/unlock-unheld
	pthread_mutex_destroy(&registry);
}

int watch_forks(void)
{
	return pthread_atfork(before_fork, after_fork, in_child);
}
