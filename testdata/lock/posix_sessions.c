/* Wrappers that abort, reader-writer locks, chains of wrappers, records that say what is held. */
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#include <assert.h>
#include <string.h>
#include <stdbool.h>
typedef struct { pthread_mutex_t h; int depth; pthread_t owner; } os_mutex;
static void os_lock(os_mutex *m) { if (pthread_mutex_lock(&m->h) != 0) { perror("lock"); abort(); } } //~ clean
static void os_unlock(os_mutex *m) { int rc = pthread_mutex_unlock(&m->h); assert(rc == 0); (void)rc; } //~ clean
static bool os_trylock(os_mutex *m) { return !pthread_mutex_trylock(&m->h); } //~ clean
#define LOCK(x) os_lock(&(x)->mu)
#define UNLOCK(x) os_unlock(&(x)->mu)
struct sess { os_mutex mu; pthread_rwlock_t tbl; pthread_spinlock_t spin; int n, cap; int *v; struct sess *next; };
int grow(struct sess *s);
static void die(const char *m) { fprintf(stderr, "%s\n", m); exit(1); } //~ untouched

int add_ok(struct sess *s, int x) //~ clean
{
	LOCK(s);
	if (s->n == s->cap && grow(s) < 0) {
		UNLOCK(s);
		return -1;
	}
	s->v[s->n++] = x;
	UNLOCK(s);
	return 0;
}
int add_bug(struct sess *s, int x)
{
	LOCK(s);
	if (s->n == s->cap && grow(s) < 0)
		return 0; //~ lock/inconsistent-exit
	s->v[s->n++] = x;
	UNLOCK(s);
	return 0;
}
int die_ok(struct sess *s) //~ clean
{
	LOCK(s);
	if (!s->v)
		die("no vector");
	s->n = 0;
	UNLOCK(s);
	return 0;
}
int tryw_ok(struct sess *s) //~ clean
{
	if (!os_trylock(&s->mu))
		return 0;
	s->n++;
	UNLOCK(s);
	return 1;
}
int tryw_bug(struct sess *s)
{
	if (os_trylock(&s->mu))
		return 0; //~ lock/inconsistent-exit
	s->n++;
	return 0;
}
int rw_up_bug(struct sess *s)
{
	pthread_rwlock_rdlock(&s->tbl);
	if (s->n > 2) {
		pthread_rwlock_wrlock(&s->tbl); //~ lock/double-lock
		s->n = 0;
	}
	pthread_rwlock_unlock(&s->tbl);
	return 0;
}
int rw_up_ok(struct sess *s) //~ clean
{
	pthread_rwlock_rdlock(&s->tbl);
	if (s->n > 2) {
		pthread_rwlock_unlock(&s->tbl);
		pthread_rwlock_wrlock(&s->tbl);
		s->n = 0;
	}
	pthread_rwlock_unlock(&s->tbl);
	return 0;
}
int rw_mode_ok(struct sess *s, bool w) //~ clean
{
	if (w)
		pthread_rwlock_wrlock(&s->tbl);
	else
		pthread_rwlock_rdlock(&s->tbl);
	s->n += w;
	pthread_rwlock_unlock(&s->tbl);
	return 0;
}
int spin_bug(struct sess *s)
{
	int i;
	pthread_spin_lock(&s->spin);
	for (i = 0; i < s->n; i++)
		if (s->v[i] < 0) {
			pthread_spin_unlock(&s->spin);
			break;
		}
	pthread_spin_unlock(&s->spin); //~ lock/double-unlock
	return i;
}
int spin_ok(struct sess *s) //~ clean
{
	int i, bad = -1;
	pthread_spin_lock(&s->spin);
	for (i = 0; i < s->n; i++)
		if (s->v[i] < 0) {
			bad = i;
			break;
		}
	pthread_spin_unlock(&s->spin);
	return bad;
}
/* chain: lock in A, released in callee two deep under same condition */
static void fin2(struct sess *s, int keep) { if (!keep) UNLOCK(s); } //~ clean
static void fin1(struct sess *s, int flags) { fin2(s, flags & 1); } //~ clean
void chain_ok(struct sess *s) { LOCK(s); s->n++; fin1(s, 2); } //~ clean
void chain_ok2(struct sess *s) { LOCK(s); s->n++; fin1(s, 3); UNLOCK(s); } //~ clean
void chain_bug(struct sess *s)
{
	LOCK(s);
	s->n++;
	fin1(s, 4);
	UNLOCK(s); //~ lock/double-unlock
}
/* struct of state returned by value */
struct hold { struct sess *s; int on; };
static struct hold hold_take(struct sess *s, int want) //~ clean
{
	struct hold h = { s, 0 };
	if (want) {
		LOCK(s);
		h.on = 1;
	}
	return h;
}
static void hold_drop(struct hold h) { if (h.on) UNLOCK(h.s); } //~ clean
void hold_ok(struct sess *s, int w) //~ clean
{
	struct hold h = hold_take(s, w);
	s->n++;
	hold_drop(h);
}
void hold_bug(struct sess *s)
{
	struct hold h = hold_take(s, 1);
	s->n++;
	hold_drop(h);
	hold_drop(h); //~ lock/double-unlock
}
/* global lock with lazy init and double check */
static os_mutex init_mu; static int inited;
int lazy_ok(void) //~ clean
{
	if (!inited) {
		os_lock(&init_mu);
		if (!inited)
			inited = 1;
		os_unlock(&init_mu);
	}
	return inited;
}
int list_ok(struct sess *h, int v) //~ clean
{
	struct sess *p = NULL, *c = h;
	while (c) {
		LOCK(c);
		if (p)
			UNLOCK(p);
		if (c->n == v) {
			UNLOCK(c);
			return 1;
		}
		p = c;
		c = c->next;
	}
	if (p)
		UNLOCK(p);
	return 0;
}

/* The program's callback is called with the lock held, one way for each kind of message: it gives nothing back where the function
   does so itself after it. */
struct client {
	pthread_mutex_t callbacks;
	void (*on_message)(struct client *client, int message);
	int count;
};
int acknowledge(struct client *client);

int handle_message(struct client *client, int kind, int message)
{
	int error = 0;

	switch (kind) {
	case 0:
		pthread_mutex_lock(&client->callbacks);
		if (client->on_message)
			client->on_message(client, message);
		return 0; //~ certain lock/inconsistent-exit
	case 1:
		error = acknowledge(client);
		pthread_mutex_lock(&client->callbacks);
		if (client->on_message)
			client->on_message(client, message);
		pthread_mutex_unlock(&client->callbacks);
		return error;
	default:
		return -1;
	}
}

/* Called on one way only: it may be there to do the rest. */
struct transfer {
	pthread_mutex_t lock;
	void (*finish)(struct transfer *transfer);
	int left;
};

int transfer_some(struct transfer *transfer)
{
	pthread_mutex_lock(&transfer->lock);
	if (--transfer->left == 0) {
		transfer->finish(transfer);
		return 0; //~ note lock/inconsistent-exit
	}
	pthread_mutex_unlock(&transfer->lock);
	return 0;
}
