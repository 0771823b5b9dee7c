/* What hangs on a record points back to it: a way there and back leads to the same lock. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
struct device { int users; spinlock_t lock; struct buffer *first; };
struct buffer { struct device *device; struct buffer *next; int users, busy; };
void destroy(struct buffer *);

static void clean_up(struct buffer *b)
{
	b->users = 0;
	spin_unlock(&b->device->lock);
}

void delayed(struct device *d) //~ clean
{
	struct buffer *b;

	spin_lock(&d->lock);
	while (d->first) {
		b = d->first;
		if (b->busy)
			clean_up(b);
		else
			spin_unlock(&d->lock);
		destroy(b);
		spin_lock(&d->lock);
	}
	spin_unlock(&d->lock);
}

void delayed_badly(struct device *d)
{
	struct buffer *b;

	while (d->first) {
		b = d->first;
		spin_lock(&b->device->lock);
		if (b->busy)
			clean_up(b);
		spin_unlock(&b->device->lock); //~ certain lock/double-unlock
		destroy(b);
	}
}

/* What a callee reaches by two ways may be one lock, as who has made both records knows. */
struct rwsem { int v; };
void down_write(struct rwsem *sem);
void up_write(struct rwsem *sem);
void *malloc(unsigned long size);
int start(void);
struct writer;
struct journal { struct rwsem sem; struct writer *writer; int open; };
struct writer { struct journal *journal; int idle; };

static void stop_writer(struct writer *w) //~ clean
{
	up_write(&w->journal->sem);
	w->idle = 1;
	down_write(&w->journal->sem);
}

void detach_writer(struct journal *j) //~ clean
{
	down_write(&j->sem);
	if (j->writer) {
		stop_writer(j->writer);
		j->writer = 0;
	}
	j->open = 0;
	up_write(&j->sem);
}

int attach_writer(struct journal *j) //~ clean
{
	int err;

	j->writer = malloc(sizeof(struct writer));
	if (!j->writer)
		return -12;
	j->writer->journal = j;
	err = start();
	if (err)
		detach_writer(j);
	return err;
}

int attach_and_keep(struct journal *j)
{
	int err;

	j->writer = malloc(sizeof(struct writer));
	if (!j->writer)
		return -12;
	j->writer->journal = j;
	err = start();
	down_write(&j->sem);
	if (err) {
		down_write(&j->writer->journal->sem); //~ certain lock/double-lock
		j->open = 0;
	}
	up_write(&j->sem);
	return err;
}
