/* goto unwinding, retry loops, wrappers by flag, result and out-parameter. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <errno.h>
#include <stdbool.h>

struct db { pthread_mutex_t lk; pthread_rwlock_t rw; pthread_mutex_t log; char *buf; size_t len; int gen; FILE *f; };
int fill(struct db *d);
void report(const char *s);

int unwind_ok(struct db *d) //~ clean
{
	int rc = -1;
	char *p = NULL;
	pthread_mutex_lock(&d->lk);
	p = malloc(d->len);
	if (!p)
		goto out;
	pthread_mutex_lock(&d->log);
	if (fill(d))
		goto out_log;
	memcpy(p, d->buf, d->len);
	rc = 0;
out_log:
	pthread_mutex_unlock(&d->log);
out:
	pthread_mutex_unlock(&d->lk);
	free(p);
	return rc;
}

int unwind_bug(struct db *d)
{
	int rc = -1;
	char *p = NULL;
	pthread_mutex_lock(&d->lk);
	p = malloc(d->len);
	if (!p)
		goto out_log; /* wrong label */
	pthread_mutex_lock(&d->log);
	if (fill(d))
		goto out_log;
	memcpy(p, d->buf, d->len);
	rc = 0;
out_log:
	pthread_mutex_unlock(&d->log); //~ lock/unlock-unheld
out:
	pthread_mutex_unlock(&d->lk);
	free(p);
	return rc;
}

int unwind_bug2(struct db *d)
{
	int rc = -ENOMEM;
	char *p;
	pthread_mutex_lock(&d->lk);
	p = malloc(d->len);
	if (!p)
		goto out;
	pthread_mutex_lock(&d->log);
	if (fill(d))
		goto out; /* log stays held */
	memcpy(p, d->buf, d->len);
	pthread_mutex_unlock(&d->log);
	rc = 0;
out:
	pthread_mutex_unlock(&d->lk);
	return rc; //~ lock/inconsistent-exit
}

int retry_ok(struct db *d) //~ clean
{
	int gen;
again:
	pthread_rwlock_rdlock(&d->rw);
	gen = d->gen;
	if (!d->buf) {
		pthread_rwlock_unlock(&d->rw);
		if (fill(d))
			return -1;
		goto again;
	}
	pthread_rwlock_unlock(&d->rw);
	return gen;
}

int retry_bug(struct db *d)
{
	int gen;
	pthread_mutex_lock(&d->lk);
again:
	gen = d->gen;
	if (!d->buf) {
		pthread_mutex_unlock(&d->lk); //~ lock/double-unlock
		if (fill(d))
			return -1;
		goto again; /* lock not retaken */
	}
	pthread_mutex_unlock(&d->lk);
	return gen;
}

int retry_bug2(struct db *d)
{
	int tries = 0;
	do {
		pthread_mutex_lock(&d->lk); //~ lock/double-lock
		if (fill(d) == 0) {
			pthread_mutex_unlock(&d->lk);
			return 0;
		}
	} while (++tries < 5);
	pthread_mutex_unlock(&d->lk);
	return -1;
}

int retry_ok2(struct db *d) //~ clean
{
	int tries = 0;
	do {
		pthread_mutex_lock(&d->lk);
		if (fill(d) == 0) {
			pthread_mutex_unlock(&d->lk);
			return 0;
		}
		pthread_mutex_unlock(&d->lk);
	} while (++tries < 5);
	return -1;
}

/* wrappers by flag */
enum { DB_LOCK = 1, DB_LOG = 2 };
static void db_enter(struct db *d, unsigned what) //~ clean
{
	if (what & DB_LOCK)
		pthread_mutex_lock(&d->lk);
	if (what & DB_LOG)
		pthread_mutex_lock(&d->log);
}
static void db_leave(struct db *d, unsigned what) //~ clean
{
	if (what & DB_LOG)
		pthread_mutex_unlock(&d->log);
	if (what & DB_LOCK)
		pthread_mutex_unlock(&d->lk);
}
void flags_ok(struct db *d) //~ clean
{
	db_enter(d, DB_LOCK | DB_LOG);
	d->gen++;
	db_leave(d, DB_LOCK | DB_LOG);
	db_enter(d, DB_LOG);
	report("x");
	db_leave(d, DB_LOG);
}
void flags_bug(struct db *d)
{
	db_enter(d, DB_LOG);
	d->gen++;
	db_leave(d, DB_LOG);
	db_leave(d, DB_LOG); //~ lock/double-unlock
}
void flags_bug2(struct db *d, int deep)
{
	db_enter(d, DB_LOCK);
	if (deep)
		db_enter(d, DB_LOCK | DB_LOG); //~ lock/double-lock
	d->gen++;
	db_leave(d, DB_LOCK);
}
int flags_bug3(struct db *d, unsigned w)
{
	db_enter(d, w | DB_LOCK);
	if (fill(d))
		return 1; //~ lock/inconsistent-exit
	db_leave(d, w | DB_LOCK);
	return 1;
}
void flags_ok3(struct db *d, unsigned w) //~ clean
{
	db_enter(d, w);
	fill(d);
	db_leave(d, w);
}

/* by result */
static bool db_claim(struct db *d) //~ clean
{
	pthread_mutex_lock(&d->lk);
	if (d->gen < 0) {
		pthread_mutex_unlock(&d->lk);
		return false;
	}
	d->gen++;
	return true;
}
int claim_ok(struct db *d) //~ clean
{
	if (!db_claim(d))
		return -1;
	fill(d);
	pthread_mutex_unlock(&d->lk);
	return 0;
}
int claim_bug(struct db *d)
{
	if (db_claim(d))
		return -1; //~ lock/held-on-exit
	fill(d);
	return -1;
}
int claim_bug2(struct db *d)
{
	pthread_mutex_lock(&d->lk);
	d->len = 0;
	if (db_claim(d)) { //~ lock/double-lock
		pthread_mutex_unlock(&d->lk);
		return 1;
	}
	return 0;
}
int claim_bug3(struct db *d)
{
	bool got = db_claim(d);
	fill(d);
	pthread_mutex_unlock(&d->lk); //~ lock/double-unlock
	return got;
}

/* by out parameter, a pointer to the lock itself */
static int db_pick(struct db *d, int wantlog, pthread_mutex_t **held) //~ clean
{
	*held = NULL;
	if (d->gen == 0)
		return -EINVAL;
	*held = wantlog ? &d->log : &d->lk;
	pthread_mutex_lock(*held);
	return 0;
}
int pick_ok(struct db *d, int w) //~ clean
{
	pthread_mutex_t *h;
	if (db_pick(d, w, &h) < 0)
		return -1;
	d->gen++;
	pthread_mutex_unlock(h);
	return 0;
}
int pick_ok2(struct db *d, int w) //~ clean
{
	pthread_mutex_t *h;
	db_pick(d, w, &h);
	d->gen++;
	if (h)
		pthread_mutex_unlock(h);
	return 0;
}
int pick_bug(struct db *d)
{
	pthread_mutex_t *h;
	if (db_pick(d, 1, &h) < 0)
		return -1;
	pthread_mutex_lock(&d->log); //~ lock/double-lock
	d->gen++;
	pthread_mutex_unlock(h);
	return 0;
}
int pick_bug2(struct db *d)
{
	pthread_mutex_t *h;
	if (db_pick(d, 0, &h) < 0)
		return -1;
	if (fill(d))
		return -1; //~ lock/held-on-exit
	pthread_mutex_unlock(h);
	return 0;
}
/* by bool out parameter */
static void db_try(struct db *d, bool *ok) //~ clean
{
	*ok = pthread_mutex_trylock(&d->lk) == 0;
}
int dtry_ok(struct db *d) //~ clean
{
	bool ok;
	db_try(d, &ok);
	if (!ok)
		return -1;
	d->gen++;
	pthread_mutex_unlock(&d->lk);
	return 0;
}
int dtry_bug(struct db *d)
{
	bool ok;
	pthread_mutex_lock(&d->lk);
	d->gen++;
	pthread_mutex_unlock(&d->lk);
	db_try(d, &ok);
	d->gen++;
	pthread_mutex_unlock(&d->lk); //~ lock/double-unlock
	return ok;
}
