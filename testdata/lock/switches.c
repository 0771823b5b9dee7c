/* Switches. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
int transfer(int);
#define EINVAL 22

enum command { CMD_READ, CMD_WRITE, CMD_ERASE, CMD_RESET };
struct disk { spinlock_t lock; int busy; };

int command(struct disk *d, enum command cmd, int arg) //~ clean
{
	int err = 0;

	spin_lock(&d->lock);
	switch (cmd) {
	case CMD_READ:
	case CMD_WRITE:
		err = transfer(arg);
		break;
	case CMD_ERASE:
		if (d->busy) {
			spin_unlock(&d->lock);
			return -EINVAL;
		}
		d->busy = 1;
		break;
	default:
		err = -EINVAL;
	}
	spin_unlock(&d->lock);
	return err;
}

/* A break in the wrong place. */
int command_break(struct disk *d, enum command cmd, int arg)
{
	int err = -EINVAL;

	spin_lock(&d->lock);
	switch (cmd) {
	case CMD_READ:
		err = transfer(arg);
		break;
	case CMD_ERASE:
		if (d->busy) {
			spin_unlock(&d->lock);
			break;
		}
		d->busy = 1;
		break;
	default:
		break;
	}
	spin_unlock(&d->lock); //~ lock/double-unlock
	return err;
}

/* Falls through from a case that has released the lock. */
int command_fallthrough(struct disk *d, enum command cmd)
{
	spin_lock(&d->lock);
	switch (cmd) {
	case CMD_WRITE:
		d->busy++;
		spin_unlock(&d->lock);
		/* fall through */
	case CMD_READ:
		spin_unlock(&d->lock); //~ lock/double-unlock
		return 0;
	default:
		spin_unlock(&d->lock);
		return -EINVAL;
	}
}

/* Which commands lock is decided twice in the same way. */
int two_switches(struct disk *d, enum command cmd) //~ clean
{
	switch (cmd) {
	case CMD_READ:
	case CMD_WRITE:
		spin_lock(&d->lock);
		break;
	default:
		break;
	}
	d->busy++;
	switch (cmd) {
	case CMD_WRITE ... CMD_RESET:
		if (cmd != CMD_WRITE)
			break;
		/* fall through */
	case CMD_READ:
		spin_unlock(&d->lock);
	}
	return 0;
}

/* A case that forgets the lock. */
int command_forgets(struct disk *d, enum command cmd)
{
	int err;

	spin_lock(&d->lock);
	err = transfer(cmd);
	switch (err) {
	case 0:
		spin_unlock(&d->lock);
		return -EINVAL;
	case 1:
		return -EINVAL; //~ lock/inconsistent-exit
	}
	spin_unlock(&d->lock);
	return 0;
}
