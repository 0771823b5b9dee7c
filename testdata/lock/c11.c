/* C11 threads. */
#include <threads.h>

struct counter { mtx_t lock; cnd_t changed; int value; };

int counter_add(struct counter *c, int n) //~ clean
{
	if (mtx_lock(&c->lock) != thrd_success)
		return -1;
	c->value += n;
	cnd_signal(&c->changed);
	mtx_unlock(&c->lock);
	return 0;
}

int counter_try_add(struct counter *c, int n)
{
	if (mtx_trylock(&c->lock) != thrd_success)
		return -1;
	c->value += n;
	mtx_unlock(&c->lock);
	mtx_unlock(&c->lock); //~ lock/double-unlock
	return 0;
}

int counter_wait(struct counter *c, int n)
{
	mtx_lock(&c->lock);
	while (c->value < n) {
		if (cnd_wait(&c->changed, &c->lock) != thrd_success)
			return -1; //~ lock/inconsistent-exit
	}
	if (c->value > 2 * n) {
		mtx_unlock(&c->lock);
		return -1;
	}
	mtx_unlock(&c->lock);
	return 0;
}
