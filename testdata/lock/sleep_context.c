/* What the task allows is taken out of the flags first, by several conditions: the bit that tells whether to wait is not among it. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
int mutex_lock_killable(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
struct task { unsigned flags; };
extern struct task *current;
void *get(int size);

static struct mutex chunks;

static inline unsigned in_context(unsigned flags)
{
	unsigned task = *(volatile unsigned *)&current->flags;

	if (task & 0x100c0000) {
		if (task & 0x80000)
			flags &= ~0xc0u;
		else if (task & 0x40000)
			flags &= ~0x80u;
		if (task & 0x10000000)
			flags &= ~8u;
	}
	return flags;
}

static void *allocate(int size, unsigned flags) //~ clean
{
	int atomic;
	void *p;

	flags = in_context(flags);
	atomic = !(flags & 0x400);
	if (!atomic) {
		if (flags & 0x8000)
			mutex_lock(&chunks);
		else if (mutex_lock_killable(&chunks))
			return 0;
	}
	p = get(size);
	if (!atomic)
		mutex_unlock(&chunks);
	return p;
}

struct queue { spinlock_t lock; void *element; };

void add(struct queue *q) //~ clean
{
	spin_lock(&q->lock);
	q->element = allocate(16, 0x800);
	spin_unlock(&q->lock);
}

void add_waiting(struct queue *q)
{
	spin_lock(&q->lock);
	q->element = allocate(16, 0xc00); //~ lock/sleep-in-atomic
	spin_unlock(&q->lock);
}
