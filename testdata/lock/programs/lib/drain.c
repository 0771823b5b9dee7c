#include "pool.h"

/* Calls the function in take.c: apps/fake.c, which comes first in the alphabet, is a part of no program that calls it. */
int pool_drain(struct pool *pool)
{
	int count = 0;

	spin_lock(&pool->lock);
	count += pool_take(pool); //~ lock/double-lock
	spin_unlock(&pool->lock);
	return count;
}
