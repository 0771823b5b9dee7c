/* What is asked again once a lock has been taken: until then another thread may have changed the answer. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);

struct device { struct mutex lock; int dead, users; };
static struct mutex table_lock;
static long next_period;

void use_badly(struct device *dev)
{
	if (dev->dead)
		return;
	mutex_lock(&dev->lock);
	if (dev->dead)
		return; //~ lock/inconsistent-exit
	dev->users++;
	mutex_unlock(&dev->lock);
}

void use(struct device *dev) //~ clean
{
	if (dev->dead)
		return;
	mutex_lock(&dev->lock);
	if (!dev->dead)
		dev->users++;
	mutex_unlock(&dev->lock);
}

/* By way of a function. */
static int before(long one, long other)
{
	return one < other;
}

void advance_badly(long now)
{
	if (before(now, next_period))
		return;
	mutex_lock(&table_lock);
	if (before(now, next_period))
		return; //~ lock/inconsistent-exit
	next_period = now + 1;
	mutex_unlock(&table_lock);
}

void advance(long now) //~ clean
{
	if (before(now, next_period))
		return;
	mutex_lock(&table_lock);
	if (before(now, next_period)) {
		mutex_unlock(&table_lock);
		return;
	}
	next_period = now + 1;
	mutex_unlock(&table_lock);
}

/* In a loop: it is left once another thread has taken the last one. */
void drain_badly(struct device *dev)
{
	while (dev->users) {
		mutex_lock(&dev->lock);
		if (!dev->users)
			return; //~ certain lock/held-on-exit
		mutex_unlock(&dev->lock);
	}
}

void drain(struct device *dev) //~ clean
{
	while (dev->users) {
		mutex_lock(&dev->lock);
		if (!dev->users) {
			mutex_unlock(&dev->lock);
			return;
		}
		mutex_unlock(&dev->lock);
	}
}

/* Two questions that go together, whichever the answer: it is the same one both times. */
void both(struct device *dev) //~ clean
{
	if (dev->dead)
		mutex_lock(&dev->lock);
	mutex_lock(&table_lock);
	next_period++;
	mutex_unlock(&table_lock);
	if (dev->dead)
		mutex_unlock(&dev->lock);
}

/* The function's own copy does not change. */
void copied(struct device *dev) //~ clean
{
	int dead = dev->dead;

	if (!dead)
		return;
	mutex_lock(&dev->lock);
	dev->users = 0;
	if (dead)
		mutex_unlock(&dev->lock);
}

/* Nor does what was found once the lock was held. */
void asked_thrice(struct device *dev) //~ clean
{
	if (dev->dead)
		return;
	mutex_lock(&dev->lock);
	if (dev->dead)
		mutex_unlock(&dev->lock);
	if (dev->dead)
		return;
	mutex_unlock(&dev->lock);
}
