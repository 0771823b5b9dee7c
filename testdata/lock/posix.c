/* A program with POSIX threads and error paths; the system's own headers. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct item { struct item *next; char *name; int refs; };

struct store {
	pthread_mutex_t lock;
	pthread_rwlock_t index;
	pthread_spinlock_t stat;
	pthread_cond_t more;
	struct item *items;
	unsigned long hits;
};

static pthread_mutex_t global_lock = PTHREAD_MUTEX_INITIALIZER;
static int running;

/* Expects s->lock held. */
static struct item *lookup(struct store *s, const char *name) //~ untouched
{
	struct item *item;

	for (item = s->items; item; item = item->next)
		if (strcmp(item->name, name) == 0)
			return item;
	return NULL;
}

int store_get(struct store *s, const char *name, struct item **out) //~ clean
{
	struct item *item;

	pthread_mutex_lock(&s->lock);
	item = lookup(s, name);
	if (item == NULL) {
		pthread_mutex_unlock(&s->lock);
		return ENOENT;
	}
	item->refs++;
	*out = item;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

int store_add(struct store *s, const char *name)
{
	struct item *item;

	pthread_mutex_lock(&s->lock);
	if (lookup(s, name) != NULL) {
		pthread_mutex_unlock(&s->lock);
		return EEXIST;
	}
	item = calloc(1, sizeof(*item));
	if (item == NULL) {
		pthread_mutex_unlock(&s->lock);
		return ENOMEM;
	}
	item->name = strdup(name);
	if (item->name == NULL) {
		free(item);
		return ENOMEM; //~ lock/inconsistent-exit
	}
	item->next = s->items;
	s->items = item;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

/* Checks every result. Locking is taken to succeed. */
int store_careful(struct store *s) //~ clean
{
	if (pthread_mutex_lock(&s->lock) != 0)
		return -1;
	s->hits++;
	if (pthread_mutex_unlock(&s->lock) != 0)
		return -1;
	return 0;
}

/* Waiting gives the mutex back. */
struct item *store_wait(struct store *s) //~ clean
{
	struct item *item;

	pthread_mutex_lock(&s->lock);
	while (s->items == NULL)
		pthread_cond_wait(&s->more, &s->lock);
	item = s->items;
	s->items = item->next;
	pthread_mutex_unlock(&s->lock);
	return item;
}

/* 0 is success, not failure. */
void store_hit_if_free(struct store *s)
{
	if (pthread_mutex_trylock(&s->lock)) {
		s->hits++;
		pthread_mutex_unlock(&s->lock); //~ lock/double-unlock
	}
}

void store_hit_if_free_repaired(struct store *s) //~ clean
{
	if (pthread_mutex_trylock(&s->lock) == 0) {
		s->hits++;
		pthread_mutex_unlock(&s->lock);
	}
}

/* Either side is released by the same function. */
unsigned long store_hits(struct store *s, int reset) //~ clean
{
	unsigned long hits;

	if (reset)
		pthread_rwlock_wrlock(&s->index);
	else
		pthread_rwlock_rdlock(&s->index);
	hits = s->hits;
	if (reset)
		s->hits = 0;
	pthread_rwlock_unlock(&s->index);
	return hits;
}

unsigned long store_hits_nested(struct store *s)
{
	unsigned long hits;

	pthread_rwlock_wrlock(&s->index);
	hits = store_hits(s, 0); //~ lock/double-lock
	pthread_rwlock_unlock(&s->index);
	return hits;
}

void store_statistics(struct store *s, unsigned long *out) //~ clean
{
	pthread_spin_lock(&s->stat);
	*out = s->hits;
	pthread_spin_unlock(&s->stat);
}

void stop(struct store *s)
{
	pthread_mutex_lock(&global_lock);
	running = 0;
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_unlock(&global_lock);
	pthread_mutex_unlock(&global_lock); //~ lock/double-unlock
}

/* exit() does not come back. */
void stop_or_die(struct store *s) //~ clean
{
	pthread_mutex_lock(&global_lock);
	if (!running)
		exit(1);
	running = 0;
	pthread_mutex_unlock(&global_lock);
}
