/* Goto unwinding. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
int step(int);
void undo(int);
#define EINVAL 22

struct dev { struct mutex big, small; int users; };

int open_dev(struct dev *d) //~ clean
{
	int err;

	mutex_lock(&d->big);
	err = step(1);
	if (err)
		goto out;
	mutex_lock(&d->small);
	err = step(2);
	if (err)
		goto out_small;
	d->users++;
out_small:
	mutex_unlock(&d->small);
out:
	mutex_unlock(&d->big);
	return err;
}

/* Jumps to the label that releases what has not been taken. Whichever way small was on entry, one
 * of the two paths is wrong. */
int open_dev_wrong_label(struct dev *d)
{
	int err;

	mutex_lock(&d->big);
	err = step(1);
	if (err)
		goto out_small;
	mutex_lock(&d->small);
	d->users++;
out_small:
	mutex_unlock(&d->small); //~ lock/unlock-unheld
	mutex_unlock(&d->big);
	return err;
}

/* Released by hand, and once more at the label. */
int open_dev_twice(struct dev *d)
{
	int err;

	mutex_lock(&d->big);
	err = step(1);
	if (err) {
		mutex_unlock(&d->big);
		goto out;
	}
	d->users++;
out:
	mutex_unlock(&d->big); //~ lock/double-unlock
	return err;
}

int open_dev_once(struct dev *d) //~ clean
{
	int err;

	mutex_lock(&d->big);
	err = step(1);
	if (err) {
		mutex_unlock(&d->big);
		goto out;
	}
	d->users++;
	mutex_unlock(&d->big);
out:
	return err;
}

/* Skips the label. */
int leave_early(struct dev *d)
{
	int err = -EINVAL;

	mutex_lock(&d->big);
	if (d->users < 0)
		goto out;
	if (d->users > 100)
		return -EINVAL; //~ lock/inconsistent-exit
	err = step(3);
out:
	mutex_unlock(&d->big);
	return err;
}

int leave_properly(struct dev *d) //~ clean
{
	int err = -EINVAL;

	mutex_lock(&d->big);
	if (d->users < 0)
		goto out;
	if (d->users > 100)
		goto out;
	err = step(3);
out:
	mutex_unlock(&d->big);
	return err;
}

/* A backward jump out of the middle. */
int start_over(struct dev *d) //~ clean
{
again:
	mutex_lock(&d->big);
	if (d->users) {
		mutex_unlock(&d->big);
		if (step(4))
			goto again;
		return -EINVAL;
	}
	mutex_unlock(&d->big);
	return 0;
}
