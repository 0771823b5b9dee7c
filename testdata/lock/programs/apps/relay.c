#include "../lib/pool.h"

static struct pool pool;

int main(void) //~ clean
{
	return pool_drain(&pool);
}
