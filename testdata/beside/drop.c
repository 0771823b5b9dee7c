/* A connection is found under the lock of the cache, and counted as used only after it; another thread drops those that are not used. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct conn {
    struct conn *next;
    int users;
    char host[32];
};

struct cache {
    pthread_mutex_t lock;
    struct conn *conns;
    int count;
};

static struct conn *find(struct cache *c, const char *host)
{
    struct conn *conn;

    for (conn = c->conns; conn != NULL; conn = conn->next)
        if (strcmp(conn->host, host) == 0)
            return conn;
    return NULL;
}

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

struct conn *cache_get(struct cache *c, const char *host)
{
    struct conn *conn;

    pthread_mutex_lock(&c->lock);
    conn = find(c, host);
#ifdef FIXED
    if (conn)
        conn->users++;
    pthread_mutex_unlock(&c->lock);
#else
    pthread_mutex_unlock(&c->lock);
    if (conn)
        conn->users++; //~ race/interleaved
#endif
    return conn;
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
        free(conn);
    return err;
}
