/* Conditions that belong together, trylock, aliases, container_of, arrays. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <stddef.h>
#include <errno.h>
#include <stdbool.h>

struct conn { int fd; pthread_mutex_t mtx; int bytes; bool shared; struct conn *peer; };
struct pool { pthread_mutex_t m; struct conn *conns[8]; int n; pthread_mutex_t part[4]; };
int io(struct conn *c);

void cond_pair_ok(struct conn *c) //~ clean
{
	if (c->shared)
		pthread_mutex_lock(&c->mtx);
	c->bytes += 10;
	if (c->shared)
		pthread_mutex_unlock(&c->mtx);
}

int cond_pair_bug(struct conn *c, int a)
{
	if (a > 3)
		pthread_mutex_lock(&c->mtx);
	c->bytes += 10;
	if (a > 4)
		pthread_mutex_unlock(&c->mtx);
	return 0; //~ lock/inconsistent-exit
}

int cond_early_bug(struct conn *c, int a)
{
	if (a)
		pthread_mutex_lock(&c->mtx);
	if (io(c) < 0)
		return -1; //~ lock/inconsistent-exit
	if (a)
		pthread_mutex_unlock(&c->mtx);
	return -1;
}

int cond_early_ok(struct conn *c, int a) //~ clean
{
	if (a)
		pthread_mutex_lock(&c->mtx);
	if (io(c) < 0) {
		if (a)
			pthread_mutex_unlock(&c->mtx);
		return -1;
	}
	if (a)
		pthread_mutex_unlock(&c->mtx);
	return 0;
}

int try_ok(struct conn *c) //~ clean
{
	if (pthread_mutex_trylock(&c->mtx) != 0)
		return EBUSY;
	c->bytes++;
	pthread_mutex_unlock(&c->mtx);
	return 0;
}

int try_ok2(struct conn *c) //~ clean
{
	int rc = pthread_mutex_trylock(&c->mtx);
	if (rc == EBUSY) {
		pthread_mutex_lock(&c->mtx);
	} else if (rc) {
		return rc;
	}
	c->bytes++;
	pthread_mutex_unlock(&c->mtx);
	return 0;
}

int try_bug(struct conn *c)
{
	int rc;
	pthread_mutex_lock(&c->mtx);
	c->bytes++;
	pthread_mutex_unlock(&c->mtx);
	rc = pthread_mutex_trylock(&c->mtx);
	if (rc)
		c->bytes = 0;
	pthread_mutex_unlock(&c->mtx); //~ lock/double-unlock
	return rc;
}

/* inverted test: thinks nonzero is success */
int try_bug2(struct conn *c)
{
	if (pthread_mutex_trylock(&c->mtx)) {
		c->bytes++;
		pthread_mutex_unlock(&c->mtx); //~ lock/double-unlock
		return 1;
	}
	return 0;
}

int try_leak_bug(struct conn *c)
{
	if (pthread_mutex_trylock(&c->mtx) == 0) {
		if (c->bytes > 100)
			return -1; //~ lock/held-on-exit
		c->bytes++;
		pthread_mutex_unlock(&c->mtx);
	}
	return 0;
}

void alias_bug(struct pool *p, int i)
{
	struct conn *c = p->conns[i];
	pthread_mutex_t *l = &p->conns[i]->mtx;
	pthread_mutex_lock(&c->mtx);
	c->bytes = 0;
	pthread_mutex_lock(l); //~ lock/double-lock
	pthread_mutex_unlock(l);
}

void alias_ok(struct pool *p, int i) //~ clean
{
	struct conn *c = p->conns[i];
	pthread_mutex_t *l = &p->conns[i]->mtx;
	pthread_mutex_lock(&c->mtx);
	c->bytes = 0;
	pthread_mutex_unlock(l);
}

#define member_to(p, T, m) ((T *)((char *)(p) - offsetof(T, m)))

void cont_bug(int *bytes)
{
	struct conn *c = member_to(bytes, struct conn, bytes);
	pthread_mutex_t *m = (pthread_mutex_t *)((char *)c + offsetof(struct conn, mtx));
	pthread_mutex_lock(m);
	pthread_mutex_lock(&member_to(bytes, struct conn, bytes)->mtx); //~ lock/double-lock
	pthread_mutex_unlock(m);
}

void cont_ok(int *bytes) //~ clean
{
	struct conn *c = member_to(bytes, struct conn, bytes);
	pthread_mutex_lock(&c->mtx);
	*bytes = 0;
	pthread_mutex_unlock(&member_to(bytes, struct conn, bytes)->mtx);
}

void peer_ok(struct conn *c) //~ clean
{
	pthread_mutex_lock(&c->mtx);
	pthread_mutex_lock(&c->peer->mtx);
	c->peer->bytes = c->bytes;
	pthread_mutex_unlock(&c->peer->mtx);
	pthread_mutex_unlock(&c->mtx);
}

void part_bug(struct pool *p, unsigned h)
{
	pthread_mutex_lock(&p->part[h & 3]);
	p->n++;
	pthread_mutex_lock(&p->part[h % 4]); //~ lock/double-lock
	pthread_mutex_unlock(&p->part[h & 3]);
}

void part_two_ok(struct pool *p, unsigned a, unsigned b) //~ clean
{
	if (a == b) {
		pthread_mutex_lock(&p->part[a]);
	} else if (a < b) {
		pthread_mutex_lock(&p->part[a]);
		pthread_mutex_lock(&p->part[b]);
	} else {
		pthread_mutex_lock(&p->part[b]);
		pthread_mutex_lock(&p->part[a]);
	}
	p->n++;
	pthread_mutex_unlock(&p->part[a]);
	if (a != b)
		pthread_mutex_unlock(&p->part[b]);
}

void part_two_bug(struct pool *p, unsigned a, unsigned b)
{
	pthread_mutex_lock(&p->part[a]);
	if (a != b)
		pthread_mutex_lock(&p->part[b]);
	p->n++;
	pthread_mutex_unlock(&p->part[a]);
	pthread_mutex_unlock(&p->part[b]); //~ lock/unlock-unheld
}

void all_parts_ok(struct pool *p) //~ clean
{
	for (int i = 0; i < 4; i++)
		pthread_mutex_lock(&p->part[i]);
	p->n = 0;
	for (int i = 3; i >= 0; i--)
		pthread_mutex_unlock(&p->part[i]);
}

void walk_bug(struct pool *p)
{
	for (int i = 0; i < p->n; i++) {
		struct conn *c = p->conns[i];
		pthread_mutex_lock(&c->mtx);
		if (c->fd < 0)
			continue;
		c->bytes = 0;
		pthread_mutex_unlock(&c->mtx);
	}

} //~ lock/inconsistent-exit

void walk_ok(struct pool *p) //~ clean
{
	for (int i = 0; i < p->n; i++) {
		struct conn *c = p->conns[i];
		pthread_mutex_lock(&c->mtx);
		if (c->fd < 0) {
			pthread_mutex_unlock(&c->mtx);
			continue;
		}
		c->bytes = 0;
		pthread_mutex_unlock(&c->mtx);
	}
}
