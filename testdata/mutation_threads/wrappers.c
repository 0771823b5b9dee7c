#include "pool.h"

void checked_lock(pthread_mutex_t *mutex)
{
	int error = pthread_mutex_lock(mutex);

	if (error)
		abort();
}

void names_lock(struct pool *pool)
{
	pthread_mutex_t *mutex = &pool->names;

	pthread_mutex_lock(mutex);
}

void names_unlock(struct pool *pool)
{
	pthread_mutex_unlock(&pool->names);
}
