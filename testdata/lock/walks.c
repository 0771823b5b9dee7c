/* Two walks over one list, the second up to the element at which the first has stopped. */

typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

struct list_head { struct list_head *next, *prev; };
struct stream {
	int state;
	struct list_head link;
	spinlock_t lock;
};
struct group { struct list_head streams; };
struct actions {
	int (*before)(struct stream *s, int state);
	int (*go)(struct stream *s, int state);
	void (*after)(struct stream *s, int state);
};

#define container_of(ptr, type, member) ((type *)((char *)(ptr) - __builtin_offsetof(type, member)))
#define for_each_stream(s, group)                                          \
	for (s = container_of((group)->streams.next, struct stream, link); \
	     &s->link != &(group)->streams;                                \
	     s = container_of(s->link.next, struct stream, link))

int act_on_all(const struct actions *ops, struct group *group, struct stream *first, int state) //~ clean
{
	struct stream *s = 0;
	struct stream *s1;
	int res = 0;

	for_each_stream(s, group) {
		if (s != first)
			spin_lock(&s->lock);
		res = ops->before(s, state);
		if (res < 0)
			goto unlock;
	}
	for_each_stream(s, group) {
		res = ops->go(s, state);
		if (res < 0) {
			s = 0;
			goto unlock;
		}
	}
	for_each_stream(s, group)
		ops->after(s, state);
unlock:
	for_each_stream(s1, group) {
		if (s1 != first)
			spin_unlock(&s1->lock);
		if (s1 == s)
			break;
	}
	return res;
}

/* Leaves the stream that failed locked. */
int act_on_each(const struct actions *ops, struct group *group, int state)
{
	struct stream *s;

	for_each_stream(s, group) {
		spin_lock(&s->lock);
		if (ops->before(s, state) < 0)
			return state; //~ lock/inconsistent-exit
		spin_unlock(&s->lock);
	}
	return state;
}

/* Each of a group of streams has one of two locks, and all of them the same. */
struct mutex { int owner; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);

struct pipe {
	struct pipe *next;
	int may_sleep;
	struct mutex mutex;
	spinlock_t lock;
};

void lock_all(struct pipe *p) //~ clean
{
	for (; p; p = p->next)
		if (p->may_sleep)
			mutex_lock(&p->mutex);
		else
			spin_lock(&p->lock);
}

void unlock_all(struct pipe *p) //~ clean
{
	for (; p; p = p->next)
		if (p->may_sleep)
			mutex_unlock(&p->mutex);
		else
			spin_unlock(&p->lock);
}

void lock_both(struct pipe *p, struct pipe *q)
{
	spin_lock(&p->lock);
	if (q->may_sleep)
		mutex_lock(&q->mutex); //~ lock/sleep-in-atomic
	p->may_sleep = q->may_sleep;
	if (q->may_sleep)
		mutex_unlock(&q->mutex);
	spin_unlock(&p->lock);
}

/* A callee gives the lock back as its element's. */
struct device { spinlock_t lock; struct list_head dead; };
struct buffer { struct device *dev; int refs; struct list_head link; };

static int cleanup(struct buffer *b, int wait)
{
	if (wait && b->refs) {
		spin_unlock(&b->dev->lock);
		return -1;
	}
	b->refs = 0;
	spin_unlock(&b->dev->lock);
	return 0;
}

void delayed_delete(struct device *dev, int wait) //~ clean
{
	spin_lock(&dev->lock);
	while (dev->dead.next != &dev->dead) {
		struct buffer *b = container_of(dev->dead.next, struct buffer, link);

		dev->dead.next = b->link.next;
		cleanup(b, wait);
		spin_lock(&dev->lock);
	}
	spin_unlock(&dev->lock);
}

void delete_first(struct device *dev, int wait)
{
	struct buffer *b = container_of(dev->dead.next, struct buffer, link);

	spin_lock(&b->dev->lock);
	if (cleanup(b, wait))
		b->refs = 1;
	spin_unlock(&b->dev->lock); //~ lock/double-unlock
}

/* All locks of a table of four, by a function that gives the address. */
typedef struct { int v; } raw_spinlock_t;
void _raw_spin_lock(raw_spinlock_t *lock);
void _raw_spin_unlock(raw_spinlock_t *lock);
struct slot { raw_spinlock_t raw; };
struct rings { int users; struct slot slot[4]; };

static inline raw_spinlock_t *raw_of(struct slot *slot)
{
	return &slot->raw;
}

static void take_all(struct rings *r)
{
	int i;

	for (i = 0; i < 4; i++)
		_raw_spin_lock(raw_of(&r->slot[i]));
}

static void give_all(struct rings *r)
{
	int i;

	for (i = 4; i > 0; i--)
		_raw_spin_unlock(&r->slot[i - 1].raw);
}

void with_all(struct rings *r) //~ clean
{
	take_all(r);
	r->users++;
	give_all(r);
	take_all(r);
	r->users--;
	give_all(r);
}

void with_all_badly(struct rings *r)
{
	take_all(r);
	r->users++;
	give_all(r);
	_raw_spin_unlock(&r->slot[2].raw); //~ lock/double-unlock
}
