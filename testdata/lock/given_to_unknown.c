/* A function of which nothing is known gets the very lock that is held. */
#include <pthread.h>

extern void cleanup_mutex(void *mutex);
extern void note_use(pthread_mutex_t *mutex);
extern int cond_wait_for(pthread_cond_t *cond, pthread_mutex_t *mutex);
extern int work(int n);

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t log_full = PTHREAD_COND_INITIALIZER;

int log_write(int n) //~ clean
{
	pthread_mutex_lock(&log_lock);
	pthread_cleanup_push(cleanup_mutex, &log_lock);
	n = work(n);
	pthread_cleanup_pop(1);
	return n;
}

int log_twice(int n) //~ clean
{
	pthread_mutex_lock(&log_lock);
	n = work(n);
	cleanup_mutex(&log_lock);
	pthread_mutex_lock(&log_lock);
	n += work(n);
	cleanup_mutex(&log_lock);
	return n;
}

/* The function itself gives it back after such a call. */
int log_noted(int n)
{
	pthread_mutex_lock(&log_lock);
	note_use(&log_lock);
	if (work(n) < 0)
		return -1; //~ certain lock/held-on-exit
	pthread_mutex_unlock(&log_lock);
	return 0;
}

/* Who waits for a condition gives the mutex back as it was. */
int log_wait(int n)
{
	pthread_mutex_lock(&log_lock);
	cond_wait_for(&log_full, &log_lock);
	return work(n); //~ certain lock/held-on-exit
}

/* What begins with a lock is not the lock: the callee may do anything else with it. */
struct cache { pthread_mutex_t lock; int used; };
extern int cache_grow(struct cache *c);

int cache_use(struct cache *c)
{
	pthread_mutex_lock(&c->lock);
	c->used++;
	if (cache_grow(c) < 0)
		return -1; //~ certain lock/held-on-exit
	pthread_mutex_unlock(&c->lock);
	return 0;
}
