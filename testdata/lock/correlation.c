/* Lock operations under conditions that belong together (Saturn §5.5, §7). */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
int work(int);
int ready(void);

#define F_LOCK 0x4u
#define F_WAIT 0x8u

struct job { spinlock_t lock; unsigned flags; int mode; int state; };

void same_condition(spinlock_t *lock, int x) //~ clean
{
	if (x)
		spin_lock(lock);
	work(x);
	if (x)
		spin_unlock(lock);
}

void opposite_condition(spinlock_t *lock, int x)
{
	spin_lock(lock);
	if (x)
		spin_unlock(lock);
	work(x);
	spin_unlock(lock); //~ lock/double-unlock
}

void opposite_condition_repaired(spinlock_t *lock, int x) //~ clean
{
	spin_lock(lock);
	if (x)
		spin_unlock(lock);
	work(x);
	if (!x)
		spin_unlock(lock);
}

/* The condition is kept in a local. */
int remembered(struct job *job) //~ clean
{
	int locked = 0;
	int err;

	if (ready()) {
		spin_lock(&job->lock);
		locked = 1;
	}
	err = work(job->mode);
	if (locked)
		spin_unlock(&job->lock);
	return err;
}

/* ... and forgotten. */
int remembered_badly(struct job *job)
{
	int locked = 0;

	if (ready()) {
		spin_lock(&job->lock);
		locked = 1;
	}
	if (work(job->mode))
		return -1; //~ lock/inconsistent-exit
	if (locked)
		spin_unlock(&job->lock);
	return 0;
}

void flag_bits(struct job *job, unsigned flags) //~ clean
{
	if (flags & F_LOCK)
		spin_lock(&job->lock);
	if ((flags & (F_LOCK | F_WAIT)) == (F_LOCK | F_WAIT))
		work(1);
	flags &= ~F_WAIT;
	if (flags & F_LOCK)
		spin_unlock(&job->lock);
}

/* Clears the bit that it still needs. */
void flag_bits_lost(struct job *job, unsigned flags)
{
	unsigned need = F_LOCK;

	spin_lock(&job->lock);
	need &= ~F_LOCK;
	if (work(flags))
		need |= F_WAIT;
	if (!(need & F_LOCK))
		spin_unlock(&job->lock);
	spin_unlock(&job->lock); //~ lock/double-unlock
}

/* Arithmetic decides: x is even and odd by turns. */
void parity(spinlock_t *lock, unsigned x) //~ clean
{
	if (x % 2 == 0)
		spin_lock(lock);
	x = x + 3;
	if (x & 1)
		spin_unlock(lock);
}

void range(spinlock_t *lock, int n) //~ clean
{
	if (n > 10)
		spin_lock(lock);
	work(n);
	if (n >= 11)
		spin_unlock(lock);
}

/* 10 takes the lock and does not release it. */
void range_off_by_one(spinlock_t *lock, int n)
{
	if (n >= 10)
		spin_lock(lock);
	work(n);
	if (n > 10)
		spin_unlock(lock);
} //~ lock/inconsistent-exit

/* The same in two functions, each of which is fine by itself. */
static void lock_from(spinlock_t *lock, int n) //~ clean
{
	if (n >= 10)
		spin_lock(lock);
}

static void unlock_from(spinlock_t *lock, int n) //~ clean
{
	if (n > 10)
		spin_unlock(lock);
}

void off_by_one_caller(spinlock_t *lock)
{
	lock_from(lock, 10);
	unlock_from(lock, 10);
	lock_from(lock, 11); //~ lock/double-lock
	unlock_from(lock, 11);
}

void off_by_one_avoided(spinlock_t *lock) //~ clean
{
	lock_from(lock, 9);
	unlock_from(lock, 9);
	lock_from(lock, 11);
	unlock_from(lock, 11);
	lock_from(lock, 12);
	unlock_from(lock, 12);
}

void ternary(struct job *a, struct job *b, int second) //~ clean
{
	struct job *job = second ? b : a;

	spin_lock(&job->lock);
	job->state++;
	spin_unlock(second ? &b->lock : &a->lock);
}

void short_circuit(spinlock_t *lock, int a, int b) //~ clean
{
	int both = a && b;

	if (both)
		spin_lock(lock);
	work(a);
	if (!(!a || !b))
		spin_unlock(lock);
}
