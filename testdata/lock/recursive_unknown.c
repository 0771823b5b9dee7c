/* What is known of a mutex is too little: the program makes some recursive, and nobody knows which. */
#include <pthread.h>
#include <stdlib.h>

struct user { pthread_mutex_t *lock; int n; };
struct known { pthread_mutex_t lock; int n; };
struct mixed { pthread_mutex_t lock; int n; };
struct given { pthread_mutex_t lock; int n; };

void publish(const char *name, pthread_mutex_t *mutex);
pthread_mutex_t *find(const char *name);
int option(const char *name);

void publish_new(const char *name)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t *mutex = malloc(sizeof(*mutex));
	if (!mutex)
		return;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(mutex, &attr);
	publish(name, mutex);
}

void user_init(struct user *u, const char *name)
{
	u->lock = find(name);
}

void user_twice(struct user *u)
{
	pthread_mutex_lock(u->lock);
	pthread_mutex_lock(u->lock); //~ note lock/double-lock
	u->n++;
	pthread_mutex_unlock(u->lock);
	pthread_mutex_unlock(u->lock);
}

/* Of this class all are initialised plainly. */
void known_init(struct known *k)
{
	pthread_mutex_init(&k->lock, NULL);
}

void known_twice(struct known *k)
{
	pthread_mutex_lock(&k->lock);
	pthread_mutex_lock(&k->lock); //~ certain lock/double-lock
	k->n++;
	pthread_mutex_unlock(&k->lock);
}

/* Of this one some are recursive. */
void mixed_init(struct mixed *one, struct mixed *other)
{
	pthread_mutexattr_t attr;
	pthread_mutexattr_init(&attr);
	pthread_mutex_init(&one->lock, &attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&other->lock, &attr);
}

void mixed_twice(struct mixed *m)
{
	pthread_mutex_lock(&m->lock);
	pthread_mutex_lock(&m->lock); //~ note lock/double-lock
	m->n++;
	pthread_mutex_unlock(&m->lock);
}

/* And of this one it is not known. */
void given_init(struct given *g)
{
	pthread_mutexattr_t attr;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, option("mutexes"));
	pthread_mutex_init(&g->lock, &attr);
}

static void given_add(struct given *g)
{
	pthread_mutex_lock(&g->lock);
	g->n++;
	pthread_mutex_unlock(&g->lock);
}

void given_fill(struct given *g)
{
	pthread_mutex_lock(&g->lock);
	given_add(g); //~ note lock/double-lock
	pthread_mutex_unlock(&g->lock);
}
