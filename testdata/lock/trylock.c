/* Trylocks: the result tells. */
typedef struct { int v; } spinlock_t;
typedef struct { int counter; } atomic_t;
struct mutex { int v; };
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
int spin_trylock(spinlock_t *lock);
int mutex_trylock(struct mutex *lock);
int mutex_lock_interruptible(struct mutex *lock);
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
int _atomic_dec_and_lock(atomic_t *counter, spinlock_t *lock);
void forget(void *);
#define EINTR 4

struct object { spinlock_t lock; struct mutex mutex; atomic_t refs; int value; };

int if_free(struct object *o) //~ clean
{
	if (!spin_trylock(&o->lock))
		return 0;
	o->value++;
	spin_unlock(&o->lock);
	return 1;
}

/* Unlocks in both cases. */
int if_free_badly(struct object *o)
{
	if (spin_trylock(&o->lock))
		o->value++;
	spin_unlock(&o->lock); //~ lock/double-unlock
	return 1;
}

/* The result is lost: the caller cannot know. */
void result_lost(struct object *o)
{
	if (mutex_trylock(&o->mutex))
		o->value++;
} //~ lock/inconsistent-exit

int result_kept(struct object *o) //~ clean
{
	int got = mutex_trylock(&o->mutex);

	if (got)
		o->value++;
	return got;
}

int result_inverted(struct object *o) //~ clean
{
	return !spin_trylock(&o->lock);
}

int use_result_inverted(struct object *o) //~ clean
{
	if (result_inverted(o))
		return 0;
	o->value--;
	spin_unlock(&o->lock);
	return 1;
}

int interruptible(struct object *o) //~ clean
{
	int err = mutex_lock_interruptible(&o->mutex);

	if (err)
		return err;
	o->value = 0;
	mutex_unlock(&o->mutex);
	return 0;
}

int interruptible_badly(struct object *o)
{
	int err = mutex_lock_interruptible(&o->mutex);

	if (!err)
		o->value = 0;
	mutex_unlock(&o->mutex); //~ lock/double-unlock
	return err;
}

/* Two locks, backing off. */
int both(struct object *a, struct object *b) //~ clean
{
	mutex_lock(&a->mutex);
	if (!mutex_trylock(&b->mutex)) {
		mutex_unlock(&a->mutex);
		return 0;
	}
	a->value = b->value;
	mutex_unlock(&b->mutex);
	mutex_unlock(&a->mutex);
	return 1;
}

/* Locked by the last reference. */
void put(struct object *o) //~ clean
{
	if (_atomic_dec_and_lock(&o->refs, &o->lock)) {
		o->value = -1;
		spin_unlock(&o->lock);
		forget(o);
	}
}

void put_badly(struct object *o)
{
	if (_atomic_dec_and_lock(&o->refs, &o->lock))
		o->value = -1;
	else
		o->value = 0;
	forget(o);
	spin_unlock(&o->lock); //~ lock/double-unlock
}

_Bool mutex_is_locked(struct mutex *lock);

/* Asks whether it has the lock. */
int queried(struct object *o, int quick) //~ clean
{
	if (!quick)
		mutex_lock(&o->mutex);
	o->value++;
	if (mutex_is_locked(&o->mutex))
		mutex_unlock(&o->mutex);
	return 0;
}

int queried_and_held(struct object *o)
{
	mutex_lock(&o->mutex);
	if (mutex_is_locked(&o->mutex))
		mutex_lock(&o->mutex); //~ lock/double-lock
	mutex_unlock(&o->mutex);
	return 0;
}

void warn(void);

/* The caller has to hold it: asking does not make it so. */
void queried_before_release(struct object *o) //~ clean
{
	if (!mutex_is_locked(&o->mutex))
		warn();
	mutex_unlock(&o->mutex);
}

/* Tried for to see that it is held: the trap is for who gets it. */
struct rw_semaphore { int count; };
int down_read_trylock(struct rw_semaphore *sem);
void down_write(struct rw_semaphore *sem);
void up_write(struct rw_semaphore *sem);
struct tree { struct rw_semaphore sem; int leaves; };

static void insist(struct tree *t) //~ clean
{
	if (down_read_trylock(&t->sem))
		__builtin_trap();
	t->leaves = 0;
}

void tear_down(struct tree *t) //~ clean
{
	insist(t);
	t->leaves--;
	up_write(&t->sem);
}
