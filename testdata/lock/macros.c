/* Locks inside statement expressions and do-while(0) macros. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
int spin_trylock(spinlock_t *lock);
int work(int);

#define lock_and_get(d) ({ spin_lock(&(d)->lock); (d)->value; })
#define put_and_unlock(d, v) do { (d)->value = (v); spin_unlock(&(d)->lock); } while (0)
#define try_get(d, out) ({ \
	int __ok = spin_trylock(&(d)->lock); \
	if (__ok) \
		*(out) = (d)->value; \
	__ok; \
})
#define with_lock(d, code) do { \
	spin_lock(&(d)->lock); \
	code; \
	spin_unlock(&(d)->lock); \
} while (0)

struct data { spinlock_t lock; int value; };

int increment(struct data *d) //~ clean
{
	int value = lock_and_get(d);

	put_and_unlock(d, value + 1);
	return value;
}

int increment_twice(struct data *d)
{
	int value = lock_and_get(d);

	value += lock_and_get(d); //~ lock/double-lock
	put_and_unlock(d, value);
	return value;
}

int try_increment(struct data *d) //~ clean
{
	int value;

	if (!try_get(d, &value))
		return -1;
	put_and_unlock(d, value + 1);
	return 0;
}

int try_increment_badly(struct data *d)
{
	int value = 0;

	if (try_get(d, &value) || value == 0)
		put_and_unlock(d, value + 1); //~ lock/double-unlock
	return 0;
}

void wrapped(struct data *d) //~ clean
{
	with_lock(d, d->value = work(d->value));
	with_lock(d, d->value++);
}

void wrapped_inside(struct data *d)
{
	with_lock(d, with_lock(d, d->value++)); //~ lock/double-lock
}

int wrapped_return(struct data *d)
{
	if (work(1))
		return -1;
	with_lock(d, if (d->value > 3) return -1; d->value++); //~ lock/inconsistent-exit
	return 0;
}

int comma(struct data *d) //~ clean
{
	int got = (spin_lock(&d->lock), d->value);

	return spin_unlock(&d->lock), got;
}

int elvis(struct data *d, struct data *spare) //~ clean
{
	struct data *chosen = d ?: spare;

	spin_lock(&chosen->lock);
	chosen->value++;
	spin_unlock(d ? &d->lock : &spare->lock);
	return 0;
}
