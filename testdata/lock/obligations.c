/* Locks that one function takes and another gives back, or nobody. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
int busy(void *);
void *get(void *);

struct dev { struct mutex open_mutex; spinlock_t queue_lock; struct mutex seq_mutex; struct mutex once; struct mutex config; spinlock_t stray; int users; struct dev *next; };

/* Fails with the lock held that it releases when it succeeds: whoever calls it. */
int open_badly(struct dev *d)
{
	mutex_lock(&d->open_mutex);
	if (d->users)
		return -16; //~ certain lock/held-on-exit
	d->users++;
	mutex_unlock(&d->open_mutex);
	return 0;
}

int open_well(struct dev *d) //~ clean
{
	mutex_lock(&d->open_mutex);
	if (d->users) {
		mutex_unlock(&d->open_mutex);
		return -16;
	}
	d->users++;
	mutex_unlock(&d->open_mutex);
	return 0;
}

/* A lock function that may fail, and a caller that keeps to it. */
static int begin(struct dev *d) //~ clean
{
	spin_lock(&d->queue_lock);
	if (busy(d)) {
		spin_unlock(&d->queue_lock);
		return -11;
	}
	return 0;
}

static void end(struct dev *d) //~ clean
{
	d->users--;
	spin_unlock(&d->queue_lock);
}

int transfer(struct dev *d) //~ clean
{
	int err = begin(d);

	if (err)
		return err;
	d->users++;
	end(d);
	return 0;
}

/* The caller forgets its half where it fails. */
int transfer_badly(struct dev *d)
{
	int err = begin(d);

	if (err)
		return err;
	if (busy(d->next))
		return -5; //~ lock/inconsistent-exit
	end(d);
	return 0;
}

/* Taken in one operation of a table and given back in another: nobody calls either by name. */
void *seq_start(struct dev *d) //~ clean
{
	mutex_lock(&d->seq_mutex);
	return d->next;
}

void seq_stop(struct dev *d, void *v) //~ clean
{
	mutex_unlock(&d->seq_mutex);
}

/* Taken, and given back by nobody at all. */
void take_for_ever(struct dev *d)
{
	mutex_lock(&d->once);
	d->users++;
} //~ lock/held-on-exit

/* Given back by a helper that all callers call without the lock. */
static void reset(struct dev *d)
{
	d->users = 0;
	mutex_unlock(&d->config); //~ lock/unlock-unheld
}

int reset_one(struct dev *d) //~ clean
{
	reset(d);
	return 0;
}

int reset_all(struct dev *d) //~ clean
{
	for (; d; d = d->next)
		reset(d);
	return 0;
}

/* An operation whose spin_lock was lost. */
void kick(struct dev *d)
{
	d->users++;
	spin_unlock(&d->stray); //~ certain lock/unlock-unheld
}

/* The object that is handed out locked. */
static struct dev *find_locked(struct dev *list) //~ clean
{
	struct dev *d = get(list);

	if (d)
		mutex_lock(&d->open_mutex);
	return d;
}

int poke(struct dev *list) //~ clean
{
	struct dev *d = find_locked(list);

	if (!d)
		return -2;
	d->users++;
	mutex_unlock(&d->open_mutex);
	return 0;
}

int poke_badly(struct dev *list)
{
	struct dev *d = find_locked(list);

	if (!d)
		return -2;
	if (d->users)
		return -16; //~ lock/held-on-exit
	d->users++;
	mutex_unlock(&d->open_mutex);
	return 0;
}
