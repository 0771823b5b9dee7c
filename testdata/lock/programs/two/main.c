#include "../lib/pool.h"

static struct pool pool;

void give_up(struct pool *pool) //~ clean
{
	pool->count = -1;
}

int main(int argc, char **argv) //~ clean
{
	pool_work(&pool, argc > 2);
	return 0;
}
