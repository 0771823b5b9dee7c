/* Locks that move with what a function returns or leaves in memory. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
int spin_trylock(spinlock_t *lock);
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
int busy(void *);
int emit(void *, int type, const void *data, int size);
void drop(void *);

struct base { spinlock_t lock; int users; };
struct timer { struct base *base; spinlock_t lock; int id; int armed; };
struct base *base_for(int cpu);
struct timer *find(int id);
int cpu(void);

/* Gives back the base whose lock is held: the same, or another. */
static struct base *switch_base(struct timer *t, struct base *base) //~ clean
{
	struct base *new_base = base_for(cpu());

	if (base != new_base) {
		if (busy(t))
			return base;
		t->base = 0;
		spin_unlock(&base->lock);
		spin_lock(&new_base->lock);
		t->base = new_base;
	}
	return new_base;
}

int start(struct timer *t) //~ clean
{
	struct base *base = t->base;

	spin_lock(&base->lock);
	base = switch_base(t, base);
	base->users++;
	spin_unlock(&base->lock);
	return 0;
}

int start_badly(struct timer *t)
{
	struct base *base = t->base;

	spin_lock(&base->lock);
	base = switch_base(t, base);
	if (base->users < 0)
		return 0; //~ lock/inconsistent-exit
	base->users++;
	spin_unlock(&base->lock);
	return 0;
}

/* Looks the object up again, so that it is, mostly, the same. */
static struct timer *lock_timer(int id) //~ clean
{
	struct timer *t = find(id);

	if (t) {
		spin_lock(&t->lock);
		if (t->armed)
			return t;
		spin_unlock(&t->lock);
	}
	return 0;
}

static struct timer *wait_running(struct timer *t) //~ clean
{
	int id = t->id;

	spin_unlock(&t->lock);
	return lock_timer(id);
}

void cancel(struct timer *t)
{
	spin_lock(&t->lock);
	while (busy(t)) {
		if (wait_running(t) != t)
			return; //~ lock/held-on-exit
	}
	t->armed = 0;
	spin_unlock(&t->lock);
}

void cancel_twice(struct timer *t)
{
	spin_lock(&t->lock);
	t->armed = 0;
	spin_unlock(&t->lock);
	if (busy(t))
		spin_unlock(&t->lock); //~ lock/double-unlock
}

/* -1 where it has released the lock, 0 where it has not: nothing else. */
struct dump { spinlock_t *lock; void *skb; void *extra; void *tail; };

static int copy(struct dump *d, int type, void *data, int size) //~ clean
{
	if (emit(d->skb, type, data, size))
		goto failure;
	return 0;
failure:
	if (d->lock)
		spin_unlock(d->lock);
	drop(d->extra);
	d->extra = 0;
	return -1;
}

int start_copy(struct dump *d, spinlock_t *lock) //~ clean
{
	d->lock = 0;
	if (lock) {
		d->lock = lock;
		spin_lock(lock);
	}
	return 0;
}

int copy_both(struct dump *d, long long packets) //~ clean
{
	int packets32 = (int)packets;

	if (d->tail) {
		int res = copy(d, 1, &packets32, sizeof packets32);
		if (res < 0 || packets32 == packets)
			return res;
		return copy(d, 2, &packets, sizeof packets);
	}
	return 0;
}

int copy_both_badly(struct dump *d, long long packets)
{
	if (d->tail) {
		copy(d, 1, &packets, 4);
		return copy(d, 2, &packets, sizeof packets); //~ lock/double-unlock
	}
	return 0;
}

/* The callee decides, through a pointer, which of two kinds of hold there is. */
static int checks(struct timer *t, _Bool *shared) //~ clean
{
	int ret;
again:
	ret = busy(t);
	if (ret < 0)
		goto out;
	if (*shared && t->armed) {
		spin_unlock(&t->lock);
		*shared = 0;
		spin_lock(&t->base->lock);
		goto again;
	}
	return 1;
out:
	if (*shared)
		spin_unlock(&t->lock);
	else
		spin_unlock(&t->base->lock);
	return ret;
}

int write(struct timer *t, int aligned) //~ clean
{
	_Bool shared = 1;
	int ret;

	if (aligned)
		shared = 0;
	if (shared)
		spin_lock(&t->lock);
	else
		spin_lock(&t->base->lock);
	ret = checks(t, &shared);
	if (ret != 1)
		return ret;
	t->armed++;
	if (shared)
		spin_unlock(&t->lock);
	else
		spin_unlock(&t->base->lock);
	return 0;
}

/* Finds an object, locks it, and leaves it in its caller's record. */
struct request { int id; struct timer *timer; };

static void choose(struct request *r) //~ clean
{
	if (r->id < 0)
		return;
	r->timer = find(r->id);
	spin_lock(&r->timer->lock);
}

void serve(struct request *r) //~ clean
{
	r->timer = 0;
	choose(r);
	if (r->timer)
		spin_unlock(&r->timer->lock);
}

void serve_twice(struct request *r)
{
	r->timer = 0;
	choose(r);
	if (r->timer) {
		spin_unlock(&r->timer->lock);
		spin_unlock(&r->timer->lock); //~ lock/double-unlock
	}
}

/* Two walks along a list, the second up to where the first one stopped. */
struct item { struct item *next; struct mutex lock; int value; };

int lock_all(struct item *head) //~ clean
{
	struct item *s, *s1;
	int res = 0;

	for (s = head->next; s != head; s = s->next) {
		mutex_lock(&s->lock);
		res = busy(s);
		if (res < 0)
			goto unlock;
		s->value++;
	}
	s = 0;
unlock:
	for (s1 = head->next; s1 != head; s1 = s1->next) {
		mutex_unlock(&s1->lock);
		if (s1 == s)
			break;
	}
	return res;
}

/* The element of a table, by an index that two iterations may have left behind. */
struct table { struct { spinlock_t lock; char pad[60]; } locks[128]; unsigned count; };

static spinlock_t *lock_of(struct table *t, unsigned i) { return &t->locks[i & 127].lock; }

static void lock_entry(struct table *t, unsigned i) //~ clean
{
	spinlock_t *lock = lock_of(t, i);

	if (!spin_trylock(lock))
		spin_lock(lock);
}

static void unlock_entry(struct table *t, unsigned i) //~ clean
{
	spin_unlock(lock_of(t, i));
}

int check_entries(struct table *t, unsigned first) //~ clean
{
	unsigned i;

	for (i = 0; i < t->count; i++) {
		if (i == first)
			return 0;
		lock_entry(t, i);
		if (!busy(t)) {
			unlock_entry(t, i);
			return 0;
		}
		unlock_entry(t, i);
	}
	return 1;
}

int check_entries_badly(struct table *t, unsigned first)
{
	unsigned i;

	for (i = 0; i < t->count; i++) {
		if (i == first)
			return 0;
		lock_entry(t, i);
		if (!busy(t))
			return 0; //~ lock/inconsistent-exit
		unlock_entry(t, i);
	}
	return 1;
}

/* One of two objects, chosen earlier. */
int either(struct timer *a, struct timer *b, int second) //~ clean
{
	struct timer *t = a->armed ? a : b;

	if (second)
		t = find(second);
	if (!t)
		return -1;
	spin_lock(&t->lock);
	if (busy(t))
		return 0;
	spin_unlock(&t->lock);
	return -1;
}

int either_badly(struct timer *a, struct timer *b)
{
	struct timer *t = a->armed ? a : b;

	spin_lock(&t->lock);
	if (busy(t))
		return -1; //~ lock/inconsistent-exit
	spin_unlock(&t->lock);
	return -1;
}

/* Given back by number: that it is the same object is beyond the analysis. */
struct pool { struct timer *timers[16]; };

static struct timer *take(struct pool *p, int id) //~ clean
{
	struct timer *t = p->timers[id & 15];

	if (t)
		spin_lock(&t->lock);
	return t;
}

static void give(struct pool *p, struct timer *hint) //~ clean
{
	spin_unlock(&p->timers[hint->id & 15]->lock);
}

int use(struct pool *p, int id) //~ clean
{
	struct timer *t = take(p, id);

	if (!t)
		return 0;
	t->armed++;
	give(p, t);
	return 0;
}
