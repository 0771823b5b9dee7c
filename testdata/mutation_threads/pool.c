#include "pool.h"

int pool_take(struct pool *pool)
{
	POOL_ENTER(pool);
	if (pool->count == 0) {
		POOL_LEAVE(pool);
		return -1;
	}
	pool->count--;
	POOL_LEAVE(pool);
	return 0;
}

/* The guard is the outer one. */
void pool_rename(struct pool *pool)
{
	POOL_ENTER(pool);
	names_lock(pool);
	pool->count++;
	names_unlock(pool);
	pthread_mutex_unlock(&pool->guard);
}

int pool_reset(struct pool *pool)
{
	if (pthread_mutex_trylock(&pool->guard) != 0)
		return -1;
	names_lock(pool);
	pool->count = 0;
	names_unlock(pool);
	POOL_LEAVE(pool);
	return 0;
}

int pool_size(struct pool *pool)
{
	int size;

	POOL_ENTER(pool);
	names_lock(pool);
	size = pool->count;
	names_unlock(pool);
	POOL_LEAVE(pool);
	return size;
}

/* Nothing is locked here: the macros are empty. */
int pool_statistics(struct pool *pool)
{
	int size;

	STATISTICS_ENTER(pool);
	size = pool->count;
	STATISTICS_LEAVE(pool);
	return size;
}
