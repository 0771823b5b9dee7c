/* Mutexes that the program makes recursive, by attribute, and their twins, which it does not. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

/* By an attribute of the function's own. */
struct cache { pthread_mutex_t lock; int n; };

void cache_init(struct cache *c)
{
	pthread_mutexattr_t attr;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&c->lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

static void cache_add(struct cache *c) //~ clean
{
	pthread_mutex_lock(&c->lock);
	c->n++;
	pthread_mutex_unlock(&c->lock);
}

void cache_fill(struct cache *c) //~ clean
{
	pthread_mutex_lock(&c->lock);
	cache_add(c);
	pthread_mutex_unlock(&c->lock);
}

/* Taken twice by one function, which gives it back twice. */
void cache_twice(struct cache *c) //~ clean
{
	pthread_mutex_lock(&c->lock);
	pthread_mutex_lock(&c->lock);
	c->n++;
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_unlock(&c->lock);
}

void cache_twice_at_times(struct cache *c, int again) //~ clean
{
	pthread_mutex_lock(&c->lock);
	if (again)
		pthread_mutex_lock(&c->lock);
	c->n++;
	if (again)
		pthread_mutex_unlock(&c->lock);
	pthread_mutex_unlock(&c->lock);
}

/* One that checks itself is not recursive. */
struct checked { pthread_mutex_t lock; int n; };

void checked_init(struct checked *c)
{
	pthread_mutexattr_t attr;
	if (pthread_mutexattr_init(&attr) != 0)
		abort();
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&c->lock, &attr);
}

static void checked_add(struct checked *c)
{
	pthread_mutex_lock(&c->lock);
	c->n++;
	pthread_mutex_unlock(&c->lock);
}

void checked_fill(struct checked *c)
{
	pthread_mutex_lock(&c->lock);
	checked_add(c); //~ certain lock/double-lock
	pthread_mutex_unlock(&c->lock);
}

/* Ordinary by no attribute at all. */
struct plain { pthread_mutex_t lock; int n; };

void plain_init(struct plain *p)
{
	pthread_mutex_init(&p->lock, NULL);
}

void plain_twice(struct plain *p)
{
	pthread_mutex_lock(&p->lock);
	pthread_mutex_lock(&p->lock); //~ certain lock/double-lock
	p->n++;
	pthread_mutex_unlock(&p->lock);
	pthread_mutex_unlock(&p->lock);
}

/* By one attribute for many mutexes, which another function has set up. */
static pthread_mutexattr_t many_attr;
static pthread_mutexattr_t few_attr;
struct many { pthread_mutex_t lock; int n; };
struct few { pthread_mutex_t lock; int n; };

void setup(void)
{
	pthread_mutexattr_init(&many_attr);
	pthread_mutexattr_settype(&many_attr, PTHREAD_MUTEX_RECURSIVE_NP);
	pthread_mutexattr_init(&few_attr);
	pthread_mutexattr_setpshared(&few_attr, PTHREAD_PROCESS_SHARED);
}

struct many *many_new(void)
{
	struct many *m = calloc(1, sizeof(*m));
	if (m)
		pthread_mutex_init(&m->lock, &many_attr);
	return m;
}

struct few *few_new(void)
{
	struct few *f = calloc(1, sizeof(*f));
	if (f)
		pthread_mutex_init(&f->lock, &few_attr);
	return f;
}

void many_twice(struct many *m) //~ clean
{
	pthread_mutex_lock(&m->lock);
	pthread_mutex_lock(&m->lock);
	m->n++;
	pthread_mutex_unlock(&m->lock);
	pthread_mutex_unlock(&m->lock);
}

void few_twice(struct few *f)
{
	pthread_mutex_lock(&f->lock);
	pthread_mutex_lock(&f->lock); //~ certain lock/double-lock
	f->n++;
	pthread_mutex_unlock(&f->lock);
	pthread_mutex_unlock(&f->lock);
}

/* The program's own functions for it, which are told what to make. */
void my_mutex_init(pthread_mutex_t *mutex, int recursive)
{
	pthread_mutexattr_t attr;
	pthread_mutexattr_init(&attr);
	if (recursive)
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	else
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_NORMAL);
	pthread_mutex_init(mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

void my_mutex_init_type(pthread_mutex_t *mutex, int type)
{
	pthread_mutexattr_t attr;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutex_init(mutex, &attr);
}

void my_mutex_init_with(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
	pthread_mutex_init(mutex, attr);
}

struct told { pthread_mutex_t yes, no, typed_yes, typed_no, with_yes, with_no, at_times; int n; };

void told_init(struct told *t, int how)
{
	pthread_mutexattr_t attr;
	my_mutex_init(&t->yes, 1);
	my_mutex_init(&t->no, 0);
	my_mutex_init_type(&t->typed_yes, PTHREAD_MUTEX_RECURSIVE);
	my_mutex_init_type(&t->typed_no, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	my_mutex_init_with(&t->with_yes, &attr);
	my_mutex_init_with(&t->with_no, NULL);
	pthread_mutex_init(&t->at_times, how ? &attr : NULL);
}

void told_yes(struct told *t) //~ clean
{
	pthread_mutex_lock(&t->yes);
	pthread_mutex_lock(&t->yes);
	t->n++;
	pthread_mutex_unlock(&t->yes);
	pthread_mutex_unlock(&t->yes);
}

void told_no(struct told *t)
{
	pthread_mutex_lock(&t->no);
	pthread_mutex_lock(&t->no); //~ certain lock/double-lock
	t->n++;
	pthread_mutex_unlock(&t->no);
	pthread_mutex_unlock(&t->no);
}

void told_typed_yes(struct told *t) //~ clean
{
	pthread_mutex_lock(&t->typed_yes);
	pthread_mutex_lock(&t->typed_yes);
	t->n++;
	pthread_mutex_unlock(&t->typed_yes);
	pthread_mutex_unlock(&t->typed_yes);
}

void told_typed_no(struct told *t)
{
	pthread_mutex_lock(&t->typed_no);
	pthread_mutex_lock(&t->typed_no); //~ certain lock/double-lock
	t->n++;
	pthread_mutex_unlock(&t->typed_no);
	pthread_mutex_unlock(&t->typed_no);
}

void told_with_yes(struct told *t) //~ clean
{
	pthread_mutex_lock(&t->with_yes);
	pthread_mutex_lock(&t->with_yes);
	t->n++;
	pthread_mutex_unlock(&t->with_yes);
	pthread_mutex_unlock(&t->with_yes);
}

void told_with_no(struct told *t)
{
	pthread_mutex_lock(&t->with_no);
	pthread_mutex_lock(&t->with_no); //~ certain lock/double-lock
	t->n++;
	pthread_mutex_unlock(&t->with_no);
	pthread_mutex_unlock(&t->with_no);
}

/* One or the other, as an argument wants it. */
void told_at_times(struct told *t)
{
	pthread_mutex_lock(&t->at_times);
	pthread_mutex_lock(&t->at_times); //~ note lock/double-lock
	t->n++;
	pthread_mutex_unlock(&t->at_times);
	pthread_mutex_unlock(&t->at_times);
}

/* A pointer to a mutex that a function has made. */
struct session { pthread_mutex_t *lock, *other; int n; };

static pthread_mutex_t *new_mutex(int recursive)
{
	pthread_mutex_t *mutex = malloc(sizeof(*mutex));
	pthread_mutexattr_t attr;
	if (!mutex)
		return NULL;
	pthread_mutexattr_init(&attr);
	if (recursive)
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(mutex, &attr);
	return mutex;
}

int session_init(struct session *s)
{
	s->lock = new_mutex(1);
	s->other = new_mutex(0);
	return s->lock && s->other;
}

void session_twice(struct session *s) //~ clean
{
	pthread_mutex_lock(s->lock);
	pthread_mutex_lock(s->lock);
	s->n++;
	pthread_mutex_unlock(s->lock);
	pthread_mutex_unlock(s->lock);
}

void session_other(struct session *s)
{
	pthread_mutex_lock(s->other);
	pthread_mutex_lock(s->other); //~ certain lock/double-lock
	s->n++;
	pthread_mutex_unlock(s->other);
	pthread_mutex_unlock(s->other);
}

/* A mutex of the function's own, and a global one. */
int local_recursive(void) //~ clean
{
	pthread_mutexattr_t attr;
	pthread_mutex_t mutex;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&mutex, &attr);
	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	pthread_mutex_unlock(&mutex);
	return 0;
}

int local_plain(void)
{
	pthread_mutex_t mutex;
	pthread_mutex_init(&mutex, NULL);
	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&mutex); //~ certain lock/double-lock
	pthread_mutex_unlock(&mutex);
	return 0;
}

static pthread_mutex_t big_lock, small_lock;

void locks_init(void)
{
	my_mutex_init(&big_lock, 1);
}

void big_twice(void) //~ clean
{
	pthread_mutex_lock(&big_lock);
	pthread_mutex_lock(&big_lock);
	pthread_mutex_unlock(&big_lock);
	pthread_mutex_unlock(&big_lock);
}

void small_twice(void)
{
	pthread_mutex_lock(&small_lock);
	pthread_mutex_lock(&small_lock); //~ certain lock/double-lock
	pthread_mutex_unlock(&small_lock);
	pthread_mutex_unlock(&small_lock);
}

/* C11. */
struct c11 { mtx_t recursive, timed; int n; };

int c11_init(struct c11 *c)
{
	if (mtx_init(&c->recursive, mtx_plain | mtx_recursive) != thrd_success)
		return -1;
	return mtx_init(&c->timed, mtx_timed) == thrd_success ? 0 : -1;
}

static void c11_add(struct c11 *c)
{
	mtx_lock(&c->recursive);
	c->n++;
	mtx_unlock(&c->recursive);
}

void c11_fill(struct c11 *c) //~ clean
{
	mtx_lock(&c->recursive);
	c11_add(c);
	mtx_unlock(&c->recursive);
}

void c11_timed(struct c11 *c)
{
	mtx_lock(&c->timed);
	mtx_lock(&c->timed); //~ certain lock/double-lock
	c->n++;
	mtx_unlock(&c->timed);
	mtx_unlock(&c->timed);
}

/* A recursive mutex is still to be given back. */
int cache_kept(struct cache *c, int n)
{
	pthread_mutex_lock(&c->lock);
	if (n < 0)
		return -1; //~ lock/inconsistent-exit
	if (n > 9) {
		pthread_mutex_unlock(&c->lock);
		return -1;
	}
	c->n = n;
	pthread_mutex_unlock(&c->lock);
	return 0;
}

/* The program's own kind of mutex, made as its argument wants it, which ends the program where that fails. */
struct guard { pthread_mutex_t mutex; };

static struct guard *guard_new(int recursive)
{
	struct guard *guard;
	pthread_mutexattr_t attr;
	if (pthread_mutexattr_init(&attr) != 0)
		abort();
	if (recursive && pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE) != 0)
		abort();
	guard = malloc(sizeof(*guard));
	if (!guard || pthread_mutex_init(&guard->mutex, &attr) != 0)
		abort();
	return guard;
}

static void guard_lock(struct guard *guard)
{
	if (pthread_mutex_lock(&guard->mutex) != 0)
		abort();
}

static void guard_unlock(struct guard *guard)
{
	if (pthread_mutex_unlock(&guard->mutex) != 0)
		abort();
}

struct exported { struct guard *guard; int n; };
struct imported { struct guard *guard; int n; };

struct exported *exported_new(void)
{
	struct exported *e = calloc(1, sizeof(*e));
	if (e)
		e->guard = guard_new(1);
	return e;
}

struct imported *imported_new(void)
{
	struct imported *i = calloc(1, sizeof(*i));
	if (i)
		i->guard = guard_new(0);
	return i;
}

static void exported_drop(struct exported *e) //~ clean
{
	guard_lock(e->guard);
	e->n--;
	guard_unlock(e->guard);
}

static void imported_drop(struct imported *i) //~ clean
{
	guard_lock(i->guard);
	i->n--;
	guard_unlock(i->guard);
}

void exported_revoke(struct exported *e) //~ clean
{
	guard_lock(e->guard);
	exported_drop(e);
	guard_unlock(e->guard);
}

void imported_revoke(struct imported *i)
{
	guard_lock(i->guard);
	imported_drop(i); //~ certain lock/double-lock
	guard_unlock(i->guard);
}
