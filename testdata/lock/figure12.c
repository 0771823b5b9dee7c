/* Saturn, POPL'05, Figure 12: drivers/message/i2o/i2o_core.c. */
struct semaphore { int count; };
void down(struct semaphore *sem);
void up(struct semaphore *sem);
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
int i2o_issue_claim(int cmd, int tid);
#define EBUSY 16

struct i2o_device { int owner; int tid; };
struct i2o_handler { int id; };

struct semaphore i2o_configuration_lock;
struct mutex i2o_mutex;

int i2o_claim_device(struct i2o_device *d, struct i2o_handler *h)
{
	down(&i2o_configuration_lock);

	if (d->owner) {
		up(&i2o_configuration_lock);
		return -EBUSY;
	}
	d->owner = h->id;
	if (i2o_issue_claim(1, d->tid)) {
		d->owner = 0;
		return -EBUSY; //~ lock/inconsistent-exit
	}
	up(&i2o_configuration_lock);
	return 0;
}

int i2o_claim_device_repaired(struct i2o_device *d, struct i2o_handler *h) //~ clean
{
	down(&i2o_configuration_lock);

	if (d->owner) {
		up(&i2o_configuration_lock);
		return -EBUSY;
	}
	d->owner = h->id;
	if (i2o_issue_claim(1, d->tid)) {
		d->owner = 0;
		up(&i2o_configuration_lock);
		return -EBUSY;
	}
	up(&i2o_configuration_lock);
	return 0;
}

/* The same with a mutex. */
int i2o_release_device(struct i2o_device *d, struct i2o_handler *h)
{
	mutex_lock(&i2o_mutex);
	if (d->owner != h->id) {
		mutex_unlock(&i2o_mutex);
		return -EBUSY;
	}
	if (i2o_issue_claim(2, d->tid))
		return -EBUSY; //~ lock/inconsistent-exit
	d->owner = 0;
	mutex_unlock(&i2o_mutex);
	return 0;
}

int i2o_release_device_repaired(struct i2o_device *d, struct i2o_handler *h) //~ clean
{
	int err = -EBUSY;

	mutex_lock(&i2o_mutex);
	if (d->owner == h->id && !i2o_issue_claim(2, d->tid)) {
		d->owner = 0;
		err = 0;
	}
	mutex_unlock(&i2o_mutex);
	return err;
}
