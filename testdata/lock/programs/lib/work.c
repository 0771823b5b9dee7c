#include "pool.h"

/* Right in the program whose give_up gives the lock back, and wrong in the other one. */
void pool_work(struct pool *pool, int bad)
{
	spin_lock(&pool->lock);
	if (bad) {
		give_up(pool);
		return; //~ lock/inconsistent-exit @pool_work
	}
	spin_unlock(&pool->lock);
}
