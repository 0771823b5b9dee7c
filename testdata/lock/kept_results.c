/* A function that returns what a record says returns no failure there. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
#define EBUSY 16
#define EINVAL 22
struct bridge { struct mutex mode_lock; int mode, users; };

int try_mode(struct bridge *b)
{
	mutex_lock(&b->mode_lock);
	if (b->users > 0) {
		mutex_unlock(&b->mode_lock);
		return -EBUSY;
	}
	return b->mode; //~ known-false-positive note lock/inconsistent-exit
}

int set_mode(struct bridge *b, int mode)
{
	mutex_lock(&b->mode_lock);
	if (b->users > 0) {
		mutex_unlock(&b->mode_lock);
		return -EBUSY;
	}
	if (mode < 0)
		return -EBUSY; //~ certain lock/inconsistent-exit
	b->mode = mode;
	mutex_unlock(&b->mode_lock);
	return 0;
}

/* Waits for some time, and returns what is left of it with the lock held, or 0 without it. No caller asks for none. */
long sleep(long left);
int busy(void *);

long take_in_time(struct bridge *b, long left)
{
	if (left < 0)
		return -EINVAL;
	mutex_lock(&b->mode_lock);
	for (;;) {
		if (!busy(b))
			break;
		mutex_unlock(&b->mode_lock);
		left = sleep(left);
		if (!left)
			break;
		mutex_lock(&b->mode_lock);
	}
	return left; //~ known-false-positive note lock/inconsistent-exit
}

/* With any time. */
long take_in_time_badly(struct bridge *b, long left)
{
	if (left < 0)
		return -EINVAL;
	mutex_lock(&b->mode_lock);
	if (busy(b))
		return left; //~ certain lock/inconsistent-exit
	mutex_unlock(&b->mode_lock);
	return left;
}
