/* Functions that take a lock or not, told by a flag, by the result, by an out-parameter. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
int spin_trylock(spinlock_t *lock);
int busy(int);
#define EBUSY 16

struct channel { spinlock_t lock; int open; int id; };

void lock_if(struct channel *c, int needed) //~ clean
{
	if (needed)
		spin_lock(&c->lock);
}

void unlock_if(struct channel *c, int needed) //~ clean
{
	if (needed)
		spin_unlock(&c->lock);
}

void send(struct channel *c, int atomic) //~ clean
{
	lock_if(c, !atomic);
	c->id++;
	unlock_if(c, !atomic);
}

void send_unbalanced(struct channel *c, int atomic)
{
	lock_if(c, 1);
	c->id++;
	unlock_if(c, 1);
	unlock_if(c, 1); //~ lock/double-unlock
}

/* 0: locked. */
int acquire(struct channel *c) //~ clean
{
	if (busy(c->id))
		return -EBUSY;
	spin_lock(&c->lock);
	return 0;
}

int use_acquire(struct channel *c) //~ clean
{
	int err = acquire(c);

	if (err)
		return err;
	c->open = 1;
	spin_unlock(&c->lock);
	return 0;
}

/* Releases what a failed acquire has not taken. */
int misuse_acquire(struct channel *c)
{
	int err;

	spin_lock(&c->lock);
	spin_unlock(&c->lock);
	err = acquire(c);
	if (!err)
		c->open = 1;
	spin_unlock(&c->lock); //~ lock/double-unlock
	return err;
}

/* The lock stays held when the second acquire succeeds, and when it does not. */
int lock_state_lost(struct channel *c)
{
	if (acquire(c))
		return -EBUSY;
	if (busy(c->id + 1))
		return -EBUSY; //~ lock/inconsistent-exit
	spin_unlock(&c->lock);
	return 0;
}

/* The out-parameter tells. */
int try_enter(struct channel *c, int *entered) //~ clean
{
	*entered = 0;
	if (!c->open)
		return -EBUSY;
	if (spin_trylock(&c->lock))
		*entered = 1;
	return 0;
}

void use_try_enter(struct channel *c) //~ clean
{
	int entered;

	if (try_enter(c, &entered) == 0 && entered) {
		c->id++;
		spin_unlock(&c->lock);
	}
}

/* Takes "no error" for "entered". */
void misuse_try_enter(struct channel *c)
{
	int entered;

	spin_lock(&c->lock);
	c->open = 1;
	spin_unlock(&c->lock);
	if (try_enter(c, &entered) == 0) {
		c->id++;
		spin_unlock(&c->lock); //~ lock/double-unlock
	}
}

/* A pointer tells: the channel, locked, or null. */
struct channel *find_locked(struct channel *table, int n, int id) //~ clean
{
	struct channel *c = &table[n & 7];

	spin_lock(&c->lock);
	if (c->id == id)
		return c;
	spin_unlock(&c->lock);
	return 0;
}

void use_find_locked(struct channel *table, int id) //~ clean
{
	struct channel *c = find_locked(table, id, id);

	if (!c)
		return;
	c->open = 0;
	spin_unlock(&c->lock);
}

/* Frees the lock that the caller holds, if asked to: the caller knows what it asked. */
void finish(struct channel *c, int keep) //~ clean
{
	c->open = 0;
	if (!keep)
		spin_unlock(&c->lock);
}

void use_finish(struct channel *c)
{
	spin_lock(&c->lock);
	finish(c, 1);
	finish(c, 0);
	finish(c, 0); //~ lock/double-unlock
}

/* Nothing that the caller sees tells whether the lock is held. */
int lottery(struct channel *c)
{
	if (busy(c->id)) {
		spin_lock(&c->lock);
		c->open++;
	}
	return 0; //~ lock/inconsistent-exit
}
