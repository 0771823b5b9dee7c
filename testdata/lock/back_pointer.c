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
