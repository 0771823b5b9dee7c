/* A sharded table, queues, states in out-parameters, scope guards. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <stdbool.h>
#include <errno.h>

struct item { int refs; struct item *hnext; char key[16]; };
struct shard { pthread_mutex_t lock; struct item *head; unsigned len; };
struct store { struct shard shards[32]; unsigned mask; pthread_mutex_t stats_lock; long hits; bool threaded; };
int expensive(void *);

static struct shard *shard_for(struct store *s, unsigned h) { return &s->shards[h & s->mask]; } //~ untouched

int shard_ok(struct store *s, unsigned h) //~ clean
{
	struct shard *sh = shard_for(s, h);
	int n;
	pthread_mutex_lock(&sh->lock);
	n = sh->len;
	pthread_mutex_unlock(&sh->lock);
	return n;
}
int shard_bug(struct store *s, unsigned h)
{
	pthread_mutex_lock(&shard_for(s, h)->lock);
	s->hits++;
	pthread_mutex_lock(&shard_for(s, h)->lock); //~ lock/double-lock
	pthread_mutex_unlock(&shard_for(s, h)->lock);
	return 0;
}
int shard_bug2(struct store *s, unsigned h)
{
	struct shard *sh = shard_for(s, h);
	struct item *it;
	pthread_mutex_lock(&sh->lock);
	for (it = sh->head; it; it = it->hnext) {
		if (it->refs == 0) {
			return 1; //~ lock/inconsistent-exit
		}
	}
	pthread_mutex_unlock(&sh->lock);
	return 1;
}
/* lock taken only if threaded, tested again by a different expression */
void thr_ok(struct store *s) //~ clean
{
	bool t = s->threaded;
	if (t)
		pthread_mutex_lock(&s->stats_lock);
	s->hits++;
	if (t == true)
		pthread_mutex_unlock(&s->stats_lock);
}
int move_ok(struct store *s, unsigned a, unsigned b) //~ clean
{
	struct shard *x = &s->shards[a], *y = &s->shards[b];
	if (x == y)
		return 0;
	if (x > y) {
		struct shard *t = x; x = y; y = t;
	}
	pthread_mutex_lock(&x->lock);
	pthread_mutex_lock(&y->lock);
	x->len--; y->len++;
	pthread_mutex_unlock(&y->lock);
	pthread_mutex_unlock(&x->lock);
	return 1;
}
int move_bug(struct store *s, unsigned a, unsigned b)
{
	struct shard *x = &s->shards[a], *y = &s->shards[b];
	if (x == y)
		return 0;
	pthread_mutex_lock(&x->lock);
	pthread_mutex_lock(&y->lock);
	if (!x->len) {
		pthread_mutex_unlock(&x->lock);
		return 0; //~ lock/inconsistent-exit
	}
	x->len--; y->len++;
	pthread_mutex_unlock(&y->lock);
	pthread_mutex_unlock(&x->lock);
	return 0;
}
/* switch fallthrough */
int sw_ok(struct shard *s, int op) //~ clean
{
	int r = 0;
	pthread_mutex_lock(&s->lock);
	switch (op) {
	case 0:
		r = 1;
		/* fallthrough */
	case 1:
		r++;
		break;
	case 2:
		pthread_mutex_unlock(&s->lock);
		expensive(s);
		return 5;
	default:
		r = -1;
		goto done;
	}
	s->len += r;
done:
	pthread_mutex_unlock(&s->lock);
	return r;
}
int sw_bug(struct shard *s, int op)
{
	int r = 0;
	pthread_mutex_lock(&s->lock);
	switch (op) {
	case 0:
		pthread_mutex_unlock(&s->lock);
		r = 1;
		/* fallthrough by mistake */
	case 1:
		r++;
		break;
	default:
		r = -1;
	}
	pthread_mutex_unlock(&s->lock); //~ lock/double-unlock
	return r;
}
/* condition variable */
struct q { pthread_mutex_t m; pthread_cond_t c; int n; bool stop; };
int q_get_ok(struct q *q) //~ clean
{
	int n;
	pthread_mutex_lock(&q->m);
	while (q->n == 0 && !q->stop)
		pthread_cond_wait(&q->c, &q->m);
	n = q->n;
	q->n = 0;
	pthread_mutex_unlock(&q->m);
	return n;
}
int q_get_bug(struct q *q)
{
	int n;
	pthread_mutex_lock(&q->m);
	while (q->n == 0) {
		if (q->stop)
			return 0; //~ lock/inconsistent-exit
		pthread_cond_wait(&q->c, &q->m);
	}
	n = q->n;
	pthread_mutex_unlock(&q->m);
	return n * 0;
}
/* function pointer table */
struct ops { void (*lock)(struct shard *); void (*unlock)(struct shard *); };
static void sh_lock(struct shard *s) { pthread_mutex_lock(&s->lock); } //~ clean
static void sh_unlock(struct shard *s) { pthread_mutex_unlock(&s->lock); } //~ clean
static const struct ops sh_ops = { sh_lock, sh_unlock };
void ops_ok(struct shard *s) //~ clean
{
	sh_ops.lock(s);
	s->len++;
	sh_ops.unlock(s);
}
/* recursive via struct with same lock: subtree locks */
/* out parameter int state machine */
static int take(struct shard *s, int how, int *state) //~ clean
{
	switch (how) {
	case 0:
		*state = 0;
		return 0;
	case 1:
		pthread_mutex_lock(&s->lock);
		*state = 1;
		return 0;
	case 2:
		if (pthread_mutex_trylock(&s->lock)) {
			*state = 0;
			return EBUSY;
		}
		*state = 1;
		return 0;
	}
	*state = 0;
	return EINVAL;
}
static void give(struct shard *s, int state) //~ clean
{
	if (state)
		pthread_mutex_unlock(&s->lock);
}
int tg_ok(struct shard *s, int how) //~ clean
{
	int st, rc;
	rc = take(s, how, &st);
	if (rc == 0)
		s->len++;
	give(s, st);
	return rc;
}
int tg_bug(struct shard *s)
{
	int st, rc;
	rc = take(s, 2, &st);
	if (rc)
		return 0;
	s->len++;
	give(s, st);
	give(s, st); //~ lock/double-unlock
	return 0;
}
int tg_bug2(struct shard *s, int how)
{
	int st, rc;
	rc = take(s, how, &st);
	if (rc)
		return 0;
	if (expensive(s))
		return 0; //~ lock/inconsistent-exit
	give(s, st);
	return 0;
}
int tg_bug3(struct shard *s)
{
	int st;
	take(s, 1, &st);
	s->len++;
	if (st == 1)
		pthread_mutex_lock(&s->lock); //~ lock/double-lock
	give(s, st);
	return 0;
}
/* cleanup on scope end inside loop with break/continue */
static inline void mtx_unlockp(pthread_mutex_t **m) { pthread_mutex_unlock(*m); } //~ clean
#define SCOPED(m) pthread_mutex_t *_sm __attribute__((cleanup(mtx_unlockp))) = (m); pthread_mutex_lock(_sm)
int cl_loop_ok(struct store *s) //~ clean
{
	int total = 0;
	for (unsigned i = 0; i <= s->mask; i++) {
		SCOPED(&s->shards[i].lock);
		if (!s->shards[i].head)
			continue;
		if (s->shards[i].len > 1000)
			break;
		total += s->shards[i].len;
	}
	return total;
}
int cl_two_ok(struct store *s) //~ clean
{
	SCOPED(&s->stats_lock);
	{
		SCOPED(&s->shards[0].lock);
		s->hits += s->shards[0].len;
	}
	return s->hits;
}
int cl_two_bug(struct store *s)
{
	SCOPED(&s->stats_lock);
	s->hits++;
	{
		SCOPED(&s->stats_lock); //~ lock/double-lock
		s->hits += s->shards[0].len;
	}
	return 0;
}
/* goto retry with trylock ordering */
int order_ok(struct shard *a, struct shard *b) //~ clean
{
retry:
	pthread_mutex_lock(&a->lock);
	if (pthread_mutex_trylock(&b->lock)) {
		pthread_mutex_unlock(&a->lock);
		goto retry;
	}
	a->len += b->len;
	pthread_mutex_unlock(&b->lock);
	pthread_mutex_unlock(&a->lock);
	return 0;
}
int order_bug(struct shard *a, struct shard *b)
{
retry:
	pthread_mutex_lock(&a->lock); //~ lock/double-lock
	if (pthread_mutex_trylock(&b->lock))
		goto retry;
	a->len += b->len;
	pthread_mutex_unlock(&b->lock);
	pthread_mutex_unlock(&a->lock);
	return 0;
}
