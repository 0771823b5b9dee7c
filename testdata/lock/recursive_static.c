/* Mutexes that their initialisers make recursive, and their twins. */
#define _GNU_SOURCE
#include <pthread.h>

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static int n;

static void add(void) //~ clean
{
	pthread_mutex_lock(&recursive);
	n++;
	pthread_mutex_unlock(&recursive);
}

void fill(void) //~ clean
{
	pthread_mutex_lock(&recursive);
	add();
	pthread_mutex_unlock(&recursive);
}

static void add_plain(void)
{
	pthread_mutex_lock(&plain);
	n++;
	pthread_mutex_unlock(&plain);
}

void fill_plain(void)
{
	pthread_mutex_lock(&plain);
	add_plain(); //~ certain lock/double-lock
	pthread_mutex_unlock(&plain);
}

void fill_checked(void)
{
	pthread_mutex_lock(&checked);
	pthread_mutex_lock(&checked); //~ certain lock/double-lock
	pthread_mutex_unlock(&checked);
}

/* Members of static records. */
struct store { int n; pthread_mutex_t lock; struct { pthread_mutex_t deep; } in; };
static struct store the_store = { .lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, .in.deep = PTHREAD_MUTEX_INITIALIZER };

void store_twice(void) //~ clean
{
	pthread_mutex_lock(&the_store.lock);
	pthread_mutex_lock(&the_store.lock);
	the_store.n++;
	pthread_mutex_unlock(&the_store.lock);
	pthread_mutex_unlock(&the_store.lock);
}

void store_twice_by_pointer(struct store *s) //~ clean
{
	pthread_mutex_lock(&s->lock);
	pthread_mutex_lock(&s->lock);
	s->n++;
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_unlock(&s->lock);
}

void store_deep(void)
{
	pthread_mutex_lock(&the_store.in.deep);
	pthread_mutex_lock(&the_store.in.deep); //~ certain lock/double-lock
	the_store.n++;
	pthread_mutex_unlock(&the_store.in.deep);
}

/* One of a function's own. */
int counted(int again) //~ clean
{
	static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	pthread_mutex_lock(&lock);
	if (again)
		pthread_mutex_lock(&lock);
	n++;
	if (again)
		pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&lock);
	return 0;
}

int counted_plain(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&lock); //~ certain lock/double-lock
	n++;
	pthread_mutex_unlock(&lock);
	return 0;
}
