#include "relay.h"

#include <string.h>

void cache_init(struct cache *c, struct stats *stats)
{
	pthread_mutex_init(&c->lock, NULL);
	c->conns = NULL;
	c->count = 0;
	c->stats = stats;
}

/* Expects c->lock held. */
static struct conn *find(struct cache *c, const char *host)
{
	struct conn *conn;

	for (conn = c->conns; conn != NULL; conn = conn->next)
		if (strcmp(conn->host, host) == 0)
			return conn;
	return NULL;
}

/* Expects c->lock held. */
static void unlink_conn(struct cache *c, struct conn *conn)
{
	struct conn **link;

	for (link = &c->conns; *link != NULL; link = &(*link)->next)
		if (*link == conn) {
			*link = conn->next;
			c->count--;
			return;
		}
}

/* Closes idle connections until at most `keep` are left. How many were closed. */
int cache_trim(struct cache *c, int keep)
{
	struct conn *conn, *next;
	int closed = 0;

	pthread_mutex_lock(&c->lock);
	for (conn = c->conns; conn != NULL && c->count > keep; conn = next) {
		next = conn->next;
		if (conn_lock_idle(conn) == NULL)
			continue;
		unlink_conn(c, conn);
		pthread_mutex_unlock(&conn->lock);
		conn_close(conn);
		closed++;
	}
	pthread_mutex_unlock(&c->lock);
	return closed;
}

static void make_room(struct cache *c)
{
	if (cache_trim(c, CACHE_MAX / 2) == 0)
		log_line("the cache is full of busy connections");
}

struct conn *cache_get(struct cache *c, const char *host)
{
	struct conn *conn;

	pthread_mutex_lock(&c->lock);
	conn = find(c, host);
	if (conn != NULL) {
		conn->users++;
		pthread_mutex_unlock(&c->lock);
		stats_count(c->stats, &c->stats->hits);
		return conn;
	}
	if (c->count >= CACHE_MAX)
		make_room(c); /* BUG: cache_trim, two calls down, takes c->lock again */
	conn = conn_open(host);
	if (conn == NULL) {
		pthread_mutex_unlock(&c->lock);
		stats_count(c->stats, &c->stats->errors);
		return NULL;
	}
	conn->users = 1;
	conn->next = c->conns;
	c->conns = conn;
	c->count++;
	pthread_mutex_unlock(&c->lock);
	stats_count(c->stats, &c->stats->misses);
	return conn;
}

void cache_put(struct cache *c, struct conn *conn)
{
	pthread_mutex_lock(&c->lock);
	conn->users--;
	pthread_mutex_unlock(&c->lock);
}

int cache_drop(struct cache *c, const char *host)
{
	struct conn *conn;
	int err = -1;

	pthread_mutex_lock(&c->lock);
	conn = find(c, host);
	if (conn != NULL && conn->users == 0) {
		unlink_conn(c, conn);
		err = 0;
	}
	pthread_mutex_unlock(&c->lock);
	if (err == 0)
		conn_close(conn);
	return err;
}

void cache_destroy(struct cache *c)
{
	struct conn *conn;

	pthread_mutex_lock(&c->lock);
	while ((conn = c->conns) != NULL) {
		c->conns = conn->next;
		conn_close(conn);
	}
	c->count = 0;
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_destroy(&c->lock);
}
