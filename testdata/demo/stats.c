#include "relay.h"

void stats_init(struct stats *s)
{
	pthread_rwlock_init(&s->lock, NULL);
	s->jobs = s->hits = s->misses = s->errors = 0;
}

void stats_count(struct stats *s, unsigned long *counter)
{
	pthread_rwlock_wrlock(&s->lock);
	(*counter)++;
	pthread_rwlock_unlock(&s->lock);
}

void stats_read(struct stats *s, struct stats *out)
{
	pthread_rwlock_rdlock(&s->lock);
	out->jobs = s->jobs;
	out->hits = s->hits;
	out->misses = s->misses;
	out->errors = s->errors;
	pthread_rwlock_unlock(&s->lock);
}

/* 0 if the counters were reset, -1 if there was work under way. */
int stats_reset(struct stats *s, int only_if_idle)
{
	pthread_rwlock_wrlock(&s->lock);
	if (only_if_idle && s->jobs != s->hits + s->misses) {
		pthread_rwlock_unlock(&s->lock);
		return -1;
	}
	s->jobs = s->hits = s->misses = s->errors = 0;
	pthread_rwlock_unlock(&s->lock);
	return 0;
}
