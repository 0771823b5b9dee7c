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
