/* Semaphores as locks, and as counters. */
struct semaphore { int count; };
void down(struct semaphore *sem);
int down_interruptible(struct semaphore *sem);
int down_trylock(struct semaphore *sem);
int down_timeout(struct semaphore *sem, long jiffies);
void up(struct semaphore *sem);
int work(int);
#define EINTR 4
#define EBUSY 16

struct tape { struct semaphore sem; struct semaphore done; int position; };

int rewind_tape(struct tape *t) //~ clean
{
	if (down_interruptible(&t->sem))
		return -EINTR;
	t->position = 0;
	up(&t->sem);
	return 0;
}

/* The result is ignored: when a signal came, the semaphore is not held. up() is no mistake then. */
int rewind_ignoring_signals(struct tape *t) //~ clean
{
	down_interruptible(&t->sem);
	t->position = 0;
	up(&t->sem);
	return 0;
}

int seek(struct tape *t, int position)
{
	down(&t->sem);
	if (position < 0 && work(position)) {
		down(&t->sem); //~ lock/double-lock
		t->position = 0;
	}
	t->position = position;
	up(&t->sem);
	return 0;
}

/* 0 means taken. */
int try_seek(struct tape *t, int position) //~ clean
{
	if (down_trylock(&t->sem))
		return -EBUSY;
	t->position = position;
	up(&t->sem);
	return 0;
}

/* Takes 0 for failure, and waits for what it holds. */
int try_seek_inverted(struct tape *t, int position)
{
	if (!down_trylock(&t->sem)) {
		down(&t->sem); //~ lock/double-lock
		t->position = position;
	}
	up(&t->sem);
	return 0;
}

/* Signals another thread. */
void finished(struct tape *t) //~ clean
{
	t->position++;
	up(&t->done);
}

void finished_twice(struct tape *t) //~ clean
{
	up(&t->done);
	up(&t->done);
}

int timeout(struct tape *t)
{
	if (down_timeout(&t->sem, 100))
		return -EBUSY;
	if (work(t->position))
		return -EBUSY; //~ lock/inconsistent-exit
	up(&t->sem);
	return 0;
}
