/* A thread that never comes to an end calls an operation of a table that releases what nobody takes. */
#include <pthread.h>
#include <unistd.h>

struct data { pthread_mutex_t lock; int done; };
struct module { void (*done)(struct module *); void (*eval)(struct module *); struct data *data; };

static void expired_done(struct module *m)
{
	struct data *d = m->data;

	d->done = 1;
	pthread_mutex_unlock(&d->lock); //~ certain lock/unlock-unheld
}

static void expired_eval(struct module *m) //~ clean
{
	struct data *d = m->data;

	pthread_mutex_lock(&d->lock);
	d->done++;
	pthread_mutex_unlock(&d->lock);
}

static struct module expired = { expired_done, expired_eval, 0 };

static void class_done(void)
{
	if (expired.done)
		expired.done(&expired);
}

static void *crawl(void *unused)
{
	for (;;) {
		expired.eval(&expired);
		class_done(); //~ note lock/double-unlock
		sleep(1);
	}
	return unused;
}

int start(pthread_t *thread)
{
	return pthread_create(thread, 0, crawl, 0);
}

/* The same thread, with a lock that it holds where it calls. */
static pthread_mutex_t lru = PTHREAD_MUTEX_INITIALIZER;
static int left;

static void lru_done(void) //~ clean
{
	left--;
	pthread_mutex_unlock(&lru);
}

static void *crawl_lru(void *unused) //~ clean
{
	for (;;) {
		pthread_mutex_lock(&lru);
		lru_done();
		sleep(1);
	}
	return unused;
}

int start_lru(pthread_t *thread)
{
	return pthread_create(thread, 0, crawl_lru, 0);
}

/* Two locks that a thread without an end takes in one order, and another function in the other. */
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void *serve(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&first);
		pthread_mutex_lock(&second); //~ certain lock/order
		left++;
		pthread_mutex_unlock(&second);
		pthread_mutex_unlock(&first);
	}
	return unused;
}

void ask(pthread_t *thread)
{
	pthread_create(thread, 0, serve, 0);
	pthread_mutex_lock(&second);
	pthread_mutex_lock(&first);
	left--;
	pthread_mutex_unlock(&first);
	pthread_mutex_unlock(&second);
}
