/* A flag of the caller's, which a callee changes when it gives up the lock. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct page;
struct space { struct mutex lock; int (*fault)(struct space *, long at); long mapped; };
struct page *lookup(struct space *, long at);
int wait_for(struct page *, int *);

/* Whether the lock was given up is told by what the method returns, which no summary knows. */
static int populate(struct space *s, long at, int *locked)
{
	int i, result = 0;

	for (i = 0; i < 4; i++) {
		result = s->fault(s, at + i);
		if (result & 1024)
			*locked = 0;
		if (result & 7)
			break;
	}
	s->mapped += i;
	return result & 7;
}

int populate_all(struct space *s, long from, long to)
{
	int locked = 0, err = 0;
	long at;

	for (at = from; at < to; at += 4) {
		if (!locked) {
			locked = 1;
			mutex_lock(&s->lock); //~ known-false-positive note lock/double-lock
		}
		err = populate(s, at, &locked);
		if (err)
			break;
	}
	if (locked)
		mutex_unlock(&s->lock);
	return err;
}

/* The flag is the function's own affair. */
int populate_badly(struct space *s, long from, long to)
{
	int locked = 0, err = 0;
	long at;

	for (at = from; at < to; at += 4) {
		if (!locked) {
			locked = 1;
			mutex_lock(&s->lock);
		}
		if (s->mapped == at) {
			locked = 0;
			break;
		}
	}
	if (locked)
		mutex_unlock(&s->lock);
	return err; //~ certain lock/inconsistent-exit
}
