#include "relay.h"

#include <stdio.h>
#include <string.h>

#define WORKERS 3

struct relay {
	struct queue queue;
	struct cache cache;
	struct stats stats;
	int trace;
	pthread_mutex_t trace_lock;
};

static void deliver(struct relay *r, const struct job *job)
{
	struct conn *conn = cache_get(&r->cache, job->host);

	if (conn == NULL) {
		log_line("job %d: no connection to %s", job->id, job->host);
		return;
	}
	if (r->trace)
		pthread_mutex_lock(&r->trace_lock);
	if (conn_send(conn, job->text) < 0 && conn_reopen(conn) == 0)
		conn_send(conn, job->text);
	if (r->trace) {
		log_line("job %d: sent to %s", job->id, job->host);
		pthread_mutex_unlock(&r->trace_lock);
	}
	cache_put(&r->cache, conn);
	stats_count(&r->stats, &r->stats.jobs);
}

static void *worker(void *argument)
{
	struct relay *r = argument;
	struct job job;

	while (queue_pop(&r->queue, &job) == 0)
		deliver(r, &job);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct relay relay;
	pthread_t workers[WORKERS];
	struct stats seen;
	int i, started = 0;

	queue_init(&relay.queue);
	stats_init(&relay.stats);
	cache_init(&relay.cache, &relay.stats);
	pthread_mutex_init(&relay.trace_lock, NULL);
	relay.trace = argc > 2 && strcmp(argv[2], "-t") == 0;

	for (i = 0; i < WORKERS; i++) {
		if (pthread_create(&workers[i], NULL, worker, &relay) != 0)
			break;
		started++;
	}
	for (i = 1; i <= 12; i++) {
		struct job job = { .id = i };

		snprintf(job.host, sizeof(job.host), "host%d", i % 4);
		snprintf(job.text, sizeof(job.text), "message %d from %s", i, argc > 1 ? argv[1] : "nobody");
		if (queue_push(&relay.queue, &job) != 0)
			log_line("job %d was refused", i);
	}
	queue_close(&relay.queue);
	for (i = 0; i < started; i++)
		pthread_join(workers[i], NULL);

	stats_read(&relay.stats, &seen);
	printf("%lu jobs, %lu hits, %lu misses\n", seen.jobs, seen.hits, seen.misses);
	cache_trim(&relay.cache, 2);
	cache_destroy(&relay.cache);
	log_close();
	return 0;
}
