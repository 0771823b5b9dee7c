typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

struct dump { spinlock_t *lock; int room; int used; };
struct trail { spinlock_t *lock; int length; };

int dump_start(struct dump *d, spinlock_t *lock);
int dump_copy(struct dump *d, int value);
int dump_finish(struct dump *d);
int trail_cut(struct trail *t, int length);

/* For whoever wants it, which nobody does. */
static inline int put_pair(struct dump *d, int one, int other)
{
	if (dump_copy(d, one))
		return -1;
	return dump_copy(d, other);
}

static inline int trail_cut_all(struct trail *t)
{
	return trail_cut(t, 0);
}
