/* Sleeping where it is forbidden, in kernel style. */
typedef struct { int slock; } arch_spinlock_t;
typedef struct raw_spinlock { arch_spinlock_t raw_lock; } raw_spinlock_t;
typedef struct spinlock { union { struct raw_spinlock rlock; }; } spinlock_t;
typedef struct { int cnts; } rwlock_t;
struct mutex { int owner; };
struct rw_semaphore { int count; };
typedef unsigned int gfp_t;
typedef unsigned long size_t;
#define GFP_KERNEL ((gfp_t)(0x400u | 0x800u | 0x40u | 0x80u))
#define GFP_ATOMIC ((gfp_t)(0x20u | 0x800u))
#define NULL ((void *)0)
void _raw_spin_lock(raw_spinlock_t *lock);
void _raw_spin_unlock(raw_spinlock_t *lock);
unsigned long _raw_spin_lock_irqsave(raw_spinlock_t *lock);
void _raw_spin_unlock_irqrestore(raw_spinlock_t *lock, unsigned long flags);
void _raw_read_lock(rwlock_t *lock);
void _raw_read_unlock(rwlock_t *lock);
void mutex_lock(struct mutex *lock);
int mutex_trylock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
void down_read(struct rw_semaphore *sem);
void up_read(struct rw_semaphore *sem);
void arch_local_irq_disable(void);
void arch_local_irq_enable(void);
void msleep(unsigned int msecs);
void schedule(void);
void *__kmalloc(size_t size, gfp_t flags);
unsigned long _copy_from_user(void *to, const void *from, unsigned long n);
void kfree(const void *);
int work(int);

static inline void *kmalloc(size_t size, gfp_t flags)
{
	return __kmalloc(size, flags);
}

static inline void *kzalloc(size_t size, gfp_t flags)
{
	return kmalloc(size, flags | 0x100u);
}

static inline void spin_lock(spinlock_t *lock) { _raw_spin_lock(&lock->rlock); }
static inline void spin_unlock(spinlock_t *lock) { _raw_spin_unlock(&lock->rlock); }
#define spin_lock_irqsave(lock, flags) do { flags = _raw_spin_lock_irqsave(&(lock)->rlock); } while (0)
static inline void spin_unlock_irqrestore(spinlock_t *lock, unsigned long flags)
{
	_raw_spin_unlock_irqrestore(&lock->rlock, flags);
}

struct entry { struct entry *next; int key; };
struct table {
	spinlock_t lock;
	rwlock_t rw;
	struct mutex mutex;
	struct rw_semaphore sem;
	struct entry *first;
	int busy, can_sleep;
};

void nap(struct table *t)
{
	spin_lock(&t->lock);
	t->busy = 1;
	msleep(10); //~ lock/sleep-in-atomic
	spin_unlock(&t->lock);
}

void nap_outside(struct table *t) //~ clean
{
	spin_lock(&t->lock);
	t->busy = 1;
	spin_unlock(&t->lock);
	msleep(10);
}

void nested_mutex(struct table *t)
{
	spin_lock(&t->lock);
	mutex_lock(&t->mutex); //~ lock/sleep-in-atomic //~ lock/order
	t->busy = 0;
	mutex_unlock(&t->mutex);
	spin_unlock(&t->lock);
}

void the_other_way(struct table *t) //~ clean
{
	mutex_lock(&t->mutex);
	down_read(&t->sem);
	spin_lock(&t->lock);
	t->busy = 0;
	spin_unlock(&t->lock);
	up_read(&t->sem);
	mutex_unlock(&t->mutex);
}

void only_tried(struct table *t) //~ clean
{
	spin_lock(&t->lock);
	if (mutex_trylock(&t->mutex)) {
		t->busy = 0;
		mutex_unlock(&t->mutex);
	}
	spin_unlock(&t->lock);
}

void under_a_reader(struct table *t)
{
	_raw_read_lock(&t->rw);
	down_read(&t->sem); //~ lock/sleep-in-atomic
	up_read(&t->sem);
	_raw_read_unlock(&t->rw);
}

void with_interrupts_off(struct table *t)
{
	arch_local_irq_disable();
	t->busy = 1;
	schedule(); //~ lock/sleep-in-atomic
	arch_local_irq_enable();
}

/* Allocations: decided by the flags, here and below. */
static struct entry *entry_new(int key, gfp_t gfp)
{
	struct entry *e = kzalloc(sizeof(*e), gfp);

	if (e)
		e->key = key;
	return e;
}

static struct entry *entry_new_waiting(int key)
{
	return entry_new(key, GFP_KERNEL);
}

int add(struct table *t, int key) //~ clean
{
	struct entry *e;
	unsigned long flags;

	spin_lock_irqsave(&t->lock, flags);
	e = entry_new(key, GFP_ATOMIC);
	if (e) {
		e->next = t->first;
		t->first = e;
	}
	spin_unlock_irqrestore(&t->lock, flags);
	return e ? 0 : -12;
}

int add_badly(struct table *t, int key)
{
	struct entry *e;

	spin_lock(&t->lock);
	e = entry_new(key, GFP_KERNEL); //~ lock/sleep-in-atomic
	if (e) {
		e->next = t->first;
		t->first = e;
	}
	spin_unlock(&t->lock);
	return e ? 0 : -12;
}

int add_two_calls_down(struct table *t, int key)
{
	struct entry *e;

	spin_lock(&t->lock);
	e = entry_new_waiting(key); //~ lock/sleep-in-atomic
	t->first = e;
	spin_unlock(&t->lock);
	return 0;
}

/* Reported where the lock is taken, and not again above. */
int add_from_above(struct table *t, struct table *other) //~ clean
{
	int error;

	mutex_lock(&t->mutex);
	error = add_badly(t, 1);
	mutex_unlock(&t->mutex);
	return error;
}

int add_by_flags(struct table *t, int key, gfp_t gfp) //~ clean
{
	struct entry *e = entry_new(key, gfp);

	spin_lock(&t->lock);
	t->first = e;
	spin_unlock(&t->lock);
	return 0;
}

/* A lock may be kept over an allocation that does not wait. */
int flags_by_lock(struct table *t, int locked) //~ clean
{
	struct entry *e;

	if (locked)
		spin_lock(&t->lock);
	e = entry_new(1, locked ? GFP_ATOMIC : GFP_KERNEL);
	if (locked)
		spin_unlock(&t->lock);
	return e != NULL;
}

/* It gives its caller's lock up before it waits. */
static void wait_idle(struct table *t) //~ clean
{
	while (t->busy) {
		spin_unlock(&t->lock);
		schedule();
		spin_lock(&t->lock);
	}
}

void drain(struct table *t) //~ clean
{
	spin_lock(&t->lock);
	wait_idle(t);
	t->first = NULL;
	spin_unlock(&t->lock);
}

/* The caller says whether it may. */
static void settle(struct table *t, int can_sleep)
{
	if (can_sleep)
		msleep(1);
	t->busy = 0;
}

void settle_atomic(struct table *t) //~ clean
{
	spin_lock(&t->lock);
	settle(t, 0);
	spin_unlock(&t->lock);
}

void settle_badly(struct table *t)
{
	spin_lock(&t->lock);
	settle(t, 1); //~ lock/sleep-in-atomic
	spin_unlock(&t->lock);
}

int read_key(struct table *t, const void *user)
{
	int key;

	spin_lock(&t->lock);
	if (_copy_from_user(&key, user, sizeof(key))) { //~ lock/sleep-in-atomic
		spin_unlock(&t->lock);
		return -14;
	}
	t->first->key = key;
	spin_unlock(&t->lock);
	return 0;
}

int read_key_first(struct table *t, const void *user) //~ clean
{
	int key = 0;

	if (_copy_from_user(&key, user, sizeof(key)))
		return -14;
	if (key == 0)
		return 0;
	spin_lock(&t->lock);
	t->first->key = key;
	spin_unlock(&t->lock);
	return key;
}

/* Whoever passes the flags knows that the lock is held. */
struct entry *add_by_callers_flags(struct table *t, int key, gfp_t gfp) //~ clean
{
	struct entry *e;

	spin_lock(&t->lock);
	e = entry_new(key, gfp);
	t->first = e;
	spin_unlock(&t->lock);
	return e;
}

struct entry *add_if_it_may_wait(struct table *t, int key, gfp_t gfp)
{
	struct entry *e = NULL;

	spin_lock(&t->lock);
	if (gfp & 0x400u)
		e = entry_new(key, gfp); //~ lock/sleep-in-atomic
	t->first = e;
	spin_unlock(&t->lock);
	return e;
}

/* A reader nested in its caller's: the lock is as it was found. */
static int peek(struct table *t) //~ clean
{
	int key;

	_raw_read_lock(&t->rw);
	key = t->first->key;
	_raw_read_unlock(&t->rw);
	msleep(1);
	return key;
}

int peek_twice(struct table *t) //~ clean
{
	return peek(t) + peek(t);
}

/* What it is told decides, however many tests come before. */
void *deep(int a, int b, int c, int d, int e, int f, int g, unsigned int flags)
{
	if (!a || !b || !c || !d || !e || !f || !g)
		return 0;
	return kmalloc(a, flags);
}

void deep_atomic(struct table *t) //~ clean
{
	spin_lock(&t->lock);
	deep(1, 2, 3, 4, 5, 6, 7, 0x20);
	spin_unlock(&t->lock);
}

void deep_waiting(struct table *t)
{
	spin_lock(&t->lock);
	deep(1, 2, 3, 4, 5, 6, 7, 0x400); //~ lock/sleep-in-atomic
	spin_unlock(&t->lock);
}

/* What gives its lock up now and then asserts that nothing else keeps it from that. */
void __might_resched(const char *file, int line, unsigned int offsets);

void drain(struct table *t) //~ clean
{
	spin_lock(&t->lock);
	while (t->first) {
		t->first = 0;
		__might_resched("drain.c", 1, 1 << 0);
	}
	spin_unlock(&t->lock);
}

void drain_asleep(struct table *t)
{
	spin_lock(&t->lock);
	t->first = 0;
	__might_resched("drain.c", 2, 0); //~ lock/sleep-in-atomic
	spin_unlock(&t->lock);
}

/* That a pointer is there through which a callee goes is no reason not to sleep. */
struct bus { struct mutex mutex; int value; };
struct probe { struct bus *bus; int wait; };

static int probe_write(struct probe *p, int value)
{
	if (!p->bus)
		return -1;
	mutex_lock(&p->bus->mutex);
	p->bus->value = value;
	mutex_unlock(&p->bus->mutex);
	return 0;
}

int probe_twice(struct probe *p, int value)
{
	return probe_write(p, value) + probe_write(p, value);
}

void probe_atomically(struct table *t, struct probe *p)
{
	spin_lock(&t->lock);
	probe_twice(p, 1); //~ lock/sleep-in-atomic
	spin_unlock(&t->lock);
}

/* That a number is there may be one. */
static int probe_wait(struct probe *p)
{
	if (p->wait)
		msleep(p->wait);
	return p->wait;
}

int probe_and_wait(struct probe *p, int value)
{
	int i;

	for (i = 0; i < value; i++)
		work(i);
	return probe_wait(p);
}

void probe_without_waiting(struct table *t, struct probe *p) //~ clean
{
	spin_lock(&t->lock);
	probe_and_wait(p, 1);
	spin_unlock(&t->lock);
}

/* As they are called where allocations are profiled. */
void *__kmalloc_noprof(size_t size, gfp_t flags);

void allocate_profiled(struct table *t)
{
	spin_lock(&t->lock);
	t->first = __kmalloc_noprof(8, GFP_KERNEL); //~ lock/sleep-in-atomic
	spin_unlock(&t->lock);
}

void allocate_profiled_atomically(struct table *t) //~ clean
{
	spin_lock(&t->lock);
	t->first = __kmalloc_noprof(8, GFP_ATOMIC);
	spin_unlock(&t->lock);
}

/* A null argument is how callers say that there is nothing to do. */
static void put_entry(struct entry *e)
{
	int i;

	if (!e)
		return;
	for (i = 0; i < e->key; i++)
		work(i);
	e->key--;
	msleep(1);
}

void put_nothing(struct table *t, struct entry *e) //~ clean
{
	spin_lock(&t->lock);
	put_entry(e);
	spin_unlock(&t->lock);
}
