/* The half of a pair that other programs call: who starts a dump holds the lock until it fails or is finished. */
#include "dump.h"

int dump_start(struct dump *d, spinlock_t *lock) //~ clean
{
	d->used = 0;
	d->lock = lock;
	spin_lock(lock);
	return 0;
}

int dump_copy(struct dump *d, int value) //~ clean
{
	if (d->used == d->room) {
		spin_unlock(d->lock);
		return -1;
	}
	d->used += value;
	return 0;
}

int dump_finish(struct dump *d) //~ clean
{
	spin_unlock(d->lock);
	return d->used;
}

/* Nothing takes this one. */
int trail_cut(struct trail *t, int length)
{
	if (length > t->length) {
		spin_unlock(t->lock); //~ lock/unlock-unheld
		return -1;
	}
	t->length = length;
	return 0;
}
