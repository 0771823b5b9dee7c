// A guard that takes the locks of two elements of a table, in their order, and gives both back at the end of its scope. It is built by a
// function that returns a record: what lies in it is known, though what takes the locks is too large to be executed in its place.

typedef struct { int word; } spinlock_t;
void _raw_spin_lock(spinlock_t *lock);
void _raw_spin_unlock(spinlock_t *lock);
void msleep(unsigned milliseconds);

struct queue { spinlock_t lock; int length, number; struct queue *next; };
struct task { int cpu, old_cpu; };

extern struct queue queues;
extern unsigned long offset[64];
#define queue_of(cpu) ((struct queue *)((char *)&queues + offset[cpu]))

void lock_both(struct queue *one, struct queue *two)
{
	if (two->number < one->number) {
		struct queue *swapped = one;

		one = two;
		two = swapped;
	}
	_raw_spin_lock(&one->lock);
	if (&one->lock != &two->lock)
		_raw_spin_lock(&two->lock);
	for (struct queue *q = one; q && q != two; q = q->next)
		q->length = 0;
}

void unlock_both(struct queue *one, struct queue *two)
{
	if (&one->lock != &two->lock)
		_raw_spin_unlock(&two->lock);
	_raw_spin_unlock(&one->lock);
}

struct both { struct queue *one, *two; };

static inline struct both both_constructor(struct queue *one, struct queue *two)
{
	struct both both = { .one = one, .two = two }, *made = &both;

	lock_both(made->one, made->two);
	return both;
}

static inline void both_destructor(struct both *both)
{
	if (both->one)
		unlock_both(both->one, both->two);
}

int move(struct task *t) //~ clean
{
	struct queue *to = queue_of(t->cpu), *from = queue_of(t->old_cpu);
	int moved;

	{
		__attribute__((cleanup(both_destructor))) struct both both = both_constructor(to, from);

		moved = from->length;
		to->length += moved;
	}
	if (moved)
		msleep(3);
	return moved;
}

int move_and_sleep(struct task *t)
{
	struct queue *to = queue_of(t->cpu), *from = queue_of(t->old_cpu);
	int moved;

	__attribute__((cleanup(both_destructor))) struct both both = both_constructor(to, from);

	moved = from->length;
	to->length += moved;
	if (moved)
		msleep(3); //~ lock/sleep-in-atomic
	return moved;
}

// The pointer to an element of a table is not null, and a pointer that was followed is not, whichever of two it was.
int ordered(struct task *t) //~ clean
{
	struct queue *to = queue_of(t->cpu), *from = queue_of(t->old_cpu);

	lock_both(to, from);
	if (to)
		unlock_both(to, from);
	msleep(3);
	return 0;
}
