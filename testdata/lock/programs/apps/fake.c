#include "../lib/pool.h"

/* Stands in for the library's function where that is tried alone. */
int pool_take(struct pool *pool) //~ clean
{
	return pool->count;
}
