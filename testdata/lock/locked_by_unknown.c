/* A global lock that a function of another file takes, as its name says. */
#include <pthread.h>

extern pthread_mutex_t root_mutex;
extern void root_lock_and_drain(void);
extern void root_drain(void);
static int mounts;

int remount(int n) //~ clean
{
	root_lock_and_drain();
	mounts += n;
	pthread_mutex_unlock(&root_mutex);
	return 0;
}

int unmount(int n)
{
	root_drain();
	mounts -= n;
	pthread_mutex_unlock(&root_mutex); //~ certain lock/unlock-unheld
	return 0;
}

int count(void) //~ clean
{
	int n;

	pthread_mutex_lock(&root_mutex);
	n = mounts;
	pthread_mutex_unlock(&root_mutex);
	return n;
}

/* What takes the lock lies elsewhere: how such a function finds the lock is not known, so that it may be called twice. */
extern int cache_mutex_lock(pthread_mutex_t *mutex);
static pthread_mutex_t cache_mutex = PTHREAD_MUTEX_INITIALIZER;
static int cached;

static int put(int value)
{
	int failed = cache_mutex_lock(&cache_mutex);

	if (failed)
		return failed;
	cached = value;
	return pthread_mutex_unlock(&cache_mutex);
}

void clear_cache(int first, int second) //~ clean
{
	if (first)
		put(0);
	if (second)
		put(1);
}

static pthread_mutex_t shelf_mutex = PTHREAD_MUTEX_INITIALIZER;
static int shelved;

static int put_away(int value)
{
	shelved = value;
	return pthread_mutex_unlock(&shelf_mutex);
}

void clear_shelf(int first, int second)
{
	pthread_mutex_lock(&shelf_mutex);
	if (first)
		put_away(0);
	if (second)
		put_away(1); //~ lock/double-unlock
}
