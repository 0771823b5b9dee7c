#include "../lib/pool.h"

static struct pool pool;

void give_up(struct pool *pool) //~ clean
{
	pool->count = 0;
	spin_unlock(&pool->lock);
}

int main(int argc, char **argv) //~ clean
{
	pool_work(&pool, argc > 1);
	return 0;
}
