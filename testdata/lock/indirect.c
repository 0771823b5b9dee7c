/* Calls through pointers, and variadic functions. */
typedef __builtin_va_list va_list;
#define va_start(ap, last) __builtin_va_start(ap, last)
#define va_arg(ap, type) __builtin_va_arg(ap, type)
#define va_end(ap) __builtin_va_end(ap)
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

struct driver;
struct operations { int (*start)(struct driver *); void (*stop)(struct driver *); };
struct driver { spinlock_t lock; const struct operations *ops; void (*done)(struct driver *, int); int state; };

/* An unknown callee changes no lock. */
int start(struct driver *d) //~ clean
{
	int err;

	spin_lock(&d->lock);
	err = d->ops->start ? d->ops->start(d) : 0;
	if (!err)
		d->state = 1;
	spin_unlock(&d->lock);
	if (d->done)
		d->done(d, err);
	return err;
}

int start_badly(struct driver *d)
{
	int err;

	spin_lock(&d->lock);
	err = d->ops->start(d);
	if (err) {
		d->done(d, err);
		return err; //~ lock/inconsistent-exit
	}
	if (d->state) {
		spin_unlock(&d->lock);
		return d->ops->start(d);
	}
	spin_unlock(&d->lock);
	return -1;
}

static void take(spinlock_t *l) { spin_lock(l); } //~ clean
static void give(spinlock_t *l) { spin_unlock(l); } //~ clean

/* The pointer is known. */
void by_known_pointer(struct driver *d) //~ clean
{
	void (*enter)(spinlock_t *) = take;
	void (*leave)(spinlock_t *) = give;

	enter(&d->lock);
	d->state++;
	leave(&d->lock);
}

void by_known_pointer_twice(struct driver *d)
{
	void (*enter)(spinlock_t *) = take;

	enter(&d->lock);
	d->state++;
	enter(&d->lock); //~ lock/double-lock
	give(&d->lock);
}

int sum_locked(struct driver *d, int n, ...) //~ clean
{
	va_list ap;
	int i, sum = 0;

	va_start(ap, n);
	spin_lock(&d->lock);
	for (i = 0; i < n; i++)
		sum += va_arg(ap, int);
	d->state = sum;
	spin_unlock(&d->lock);
	va_end(ap);
	return sum;
}

int call_variadic(struct driver *d)
{
	int sum;

	spin_lock(&d->lock);
	sum = sum_locked(d, 3, 1, 2, 3); //~ lock/double-lock
	spin_unlock(&d->lock);
	return sum;
}
