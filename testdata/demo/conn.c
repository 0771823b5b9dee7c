#include "relay.h"

#include <stdlib.h>
#include <string.h>

static int next_handle = 1;
static pthread_mutex_t handle_lock = PTHREAD_MUTEX_INITIALIZER;

static int new_handle(void)
{
	int handle;

	pthread_mutex_lock(&handle_lock);
	handle = next_handle++;
	pthread_mutex_unlock(&handle_lock);
	return handle;
}

static int dial(const char *host)
{
	if (host[0] == '\0' || host[0] == '!')
		return -1;
	return new_handle();
}

struct conn *conn_open(const char *host)
{
	struct conn *conn = calloc(1, sizeof(*conn));

	if (conn == NULL)
		return NULL;
	pthread_mutex_init(&conn->lock, NULL);
	strncpy(conn->host, host, HOST_MAX - 1);
	conn->handle = dial(conn->host);
	if (conn->handle < 0) {
		pthread_mutex_destroy(&conn->lock);
		free(conn);
		return NULL;
	}
	return conn;
}

void conn_close(struct conn *conn)
{
	pthread_mutex_destroy(&conn->lock);
	free(conn);
}

/* Dials again after a failure. 0 or -1. */
int conn_reopen(struct conn *conn)
{
	int handle;

	pthread_mutex_lock(&conn->lock);
	if (conn->users > 1) {
		pthread_mutex_unlock(&conn->lock);
		return -1;
	}
	handle = dial(conn->host);
	if (handle < 0) {
		log_line("cannot reach %s", conn->host);
		return -1; /* BUG: conn->lock is still held */
	}
	conn->handle = handle;
	pthread_mutex_unlock(&conn->lock);
	return 0;
}

int conn_send(struct conn *conn, const char *text)
{
	int sent = -1;

	pthread_mutex_lock(&conn->lock);
	if (conn->handle < 0)
		goto out;
	if (strlen(text) == 0)
		goto out;
	sent = (int)strlen(text);
out:
	pthread_mutex_unlock(&conn->lock);
	return sent;
}

/* The connection, locked, if nobody uses it; otherwise null. */
struct conn *conn_lock_idle(struct conn *conn)
{
	if (pthread_mutex_trylock(&conn->lock) != 0)
		return NULL;
	if (conn->users > 0) {
		pthread_mutex_unlock(&conn->lock);
		return NULL;
	}
	return conn;
}
