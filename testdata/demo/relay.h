/* A small message relay: clients hand in jobs, workers fetch what they need through a cache of
 * connections, and everything is counted. */
#ifndef RELAY_H
#define RELAY_H

#include <pthread.h>
#include <stddef.h>

#define HOST_MAX 32
#define CACHE_MAX 8
#define QUEUE_MAX 16

struct stats {
	pthread_rwlock_t lock;
	unsigned long jobs, hits, misses, errors;
};

struct conn {
	struct conn *next;
	char host[HOST_MAX];
	int handle;
	int users;
	pthread_mutex_t lock;
};

struct cache {
	pthread_mutex_t lock;
	struct conn *conns;
	int count;
	struct stats *stats;
};

struct job {
	int id;
	char host[HOST_MAX];
	char text[64];
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct job jobs[QUEUE_MAX];
	int head, length;
	int closed;
	int refused;
};

/* log.c */
void log_line(const char *format, ...);
int log_open(const char *path);
void log_close(void);

/* stats.c */
void stats_init(struct stats *s);
void stats_count(struct stats *s, unsigned long *counter);
void stats_read(struct stats *s, struct stats *out);
int stats_reset(struct stats *s, int only_if_idle);

/* cache.c */
void cache_init(struct cache *c, struct stats *stats);
struct conn *cache_get(struct cache *c, const char *host);
void cache_put(struct cache *c, struct conn *conn);
int cache_drop(struct cache *c, const char *host);
int cache_trim(struct cache *c, int keep);
void cache_destroy(struct cache *c);

/* conn.c */
struct conn *conn_open(const char *host);
void conn_close(struct conn *conn);
int conn_send(struct conn *conn, const char *text);
int conn_reopen(struct conn *conn);
struct conn *conn_lock_idle(struct conn *conn);

/* queue.c */
void queue_init(struct queue *q);
int queue_push(struct queue *q, const struct job *job);
int queue_pop(struct queue *q, struct job *out);
int queue_try_pop(struct queue *q, struct job *out);
int queue_move(struct queue *from, struct queue *to);
void queue_close(struct queue *q);

#endif
