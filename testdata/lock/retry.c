/* Loops that drop the lock and try again. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
int spin_trylock(spinlock_t *lock);
void *alloc(int may_sleep);
void wait_a_little(void);
void cpu_relax(void);
#define EAGAIN 11
#define ENOMEM 12

struct pool { spinlock_t lock; void *spare; int waiters; };

void *take(struct pool *p) //~ clean
{
	void *spare, *fresh = 0;

	spin_lock(&p->lock);
	while (!p->spare) {
		spin_unlock(&p->lock);
		fresh = alloc(1);
		spin_lock(&p->lock);
		if (fresh)
			p->spare = fresh;
	}
	spare = p->spare;
	p->spare = 0;
	spin_unlock(&p->lock);
	return spare;
}

/* Goes round with the lock dropped. */
void *take_unlocked(struct pool *p)
{
	void *spare;

	spin_lock(&p->lock);
	while (!p->spare) {
		spin_unlock(&p->lock); //~ lock/double-unlock
		p->spare = alloc(1);
		if (!p->spare)
			continue;
		spin_lock(&p->lock);
	}
	spare = p->spare;
	spin_unlock(&p->lock);
	return spare;
}

/* Breaks out with the lock held where the other ways out have dropped it. */
int wait_for(struct pool *p, int tries)
{
	for (;;) {
		spin_lock(&p->lock);
		if (tries-- == 0)
			break;
		if (p->spare) {
			spin_unlock(&p->lock);
			return -EAGAIN;
		}
		spin_unlock(&p->lock);
		wait_a_little();
	}
	p->waiters++;
	return -EAGAIN; //~ lock/inconsistent-exit
}

int wait_for_repaired(struct pool *p, int tries) //~ clean
{
	for (;;) {
		spin_lock(&p->lock);
		if (tries-- == 0)
			break;
		if (p->spare) {
			spin_unlock(&p->lock);
			return -EAGAIN;
		}
		spin_unlock(&p->lock);
		wait_a_little();
	}
	p->waiters++;
	spin_unlock(&p->lock);
	return -EAGAIN;
}

void spin_politely(struct pool *p) //~ clean
{
	while (!spin_trylock(&p->lock))
		cpu_relax();
	p->waiters++;
	spin_unlock(&p->lock);
}

int bounded_tries(struct pool *p) //~ clean
{
	int tries;

	for (tries = 0; tries < 3; tries++) {
		if (spin_trylock(&p->lock)) {
			p->waiters++;
			spin_unlock(&p->lock);
			return 0;
		}
		cpu_relax();
	}
	return -EAGAIN;
}

/* Holds it on entry and on exit, drops it to sleep: a precondition, no mistake. */
int refill_locked(struct pool *p) //~ clean
{
	void *fresh;

	spin_unlock(&p->lock);
	fresh = alloc(1);
	spin_lock(&p->lock);
	if (!fresh)
		return -ENOMEM;
	p->spare = fresh;
	return 0;
}

int refill(struct pool *p) //~ clean
{
	int err;

	spin_lock(&p->lock);
	err = refill_locked(p);
	spin_unlock(&p->lock);
	return err;
}
