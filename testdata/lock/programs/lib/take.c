#include "pool.h"

int pool_take(struct pool *pool) //~ clean
{
	int count;

	spin_lock(&pool->lock);
	count = --pool->count;
	spin_unlock(&pool->lock);
	return count;
}
