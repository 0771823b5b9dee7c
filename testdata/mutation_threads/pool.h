#ifndef POOL_H
#define POOL_H
#include <pthread.h>

struct pool {
	pthread_mutex_t guard;
	pthread_mutex_t names;
	int count;
};

/* Macros around the primitive, one around a function that does no more. */
#define POOL_ENTER(pool) checked_lock(&(pool)->guard)
#define POOL_LEAVE(pool) do { if (pthread_mutex_unlock(&(pool)->guard) != 0) abort(); } while (0)

/* Not in this configuration. */
#ifdef POOL_STATISTICS
#define STATISTICS_ENTER(pool) pthread_mutex_lock(&(pool)->names)
#define STATISTICS_LEAVE(pool) pthread_mutex_unlock(&(pool)->names)
#else
#define STATISTICS_ENTER(pool)
#define STATISTICS_LEAVE(pool)
#endif

void checked_lock(pthread_mutex_t *mutex);
void names_lock(struct pool *pool);
void names_unlock(struct pool *pool);
#endif
