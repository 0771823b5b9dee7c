/* Interrupts as Linux turns them off and on, with the headers' bodies as they are on x86. */
typedef struct { int slock; } arch_spinlock_t;
typedef struct raw_spinlock { arch_spinlock_t raw_lock; } raw_spinlock_t;
typedef struct spinlock { union { struct raw_spinlock rlock; }; } spinlock_t;
void _raw_spin_lock(raw_spinlock_t *lock);
void _raw_spin_unlock(raw_spinlock_t *lock);
void _raw_spin_lock_irq(raw_spinlock_t *lock);
void _raw_spin_unlock_irq(raw_spinlock_t *lock);
unsigned long _raw_spin_lock_irqsave(raw_spinlock_t *lock);
void _raw_spin_unlock_irqrestore(raw_spinlock_t *lock, unsigned long flags);
int _raw_spin_trylock(raw_spinlock_t *lock);

static inline unsigned long native_save_fl(void)
{
	unsigned long flags;

	asm volatile("pushf ; pop %0" : "=rm" (flags) : : "memory");
	return flags;
}

static inline void native_irq_disable(void) { asm volatile("cli" : : : "memory"); }
static inline void native_irq_enable(void) { asm volatile("sti" : : : "memory"); }
static inline unsigned long arch_local_save_flags(void) { return native_save_fl(); }
static inline void arch_local_irq_disable(void) { native_irq_disable(); }
static inline void arch_local_irq_enable(void) { native_irq_enable(); }

static inline unsigned long arch_local_irq_save(void)
{
	unsigned long flags = arch_local_save_flags();
	arch_local_irq_disable();
	return flags;
}

static inline int arch_irqs_disabled_flags(unsigned long flags)
{
	return !(flags & (1UL << 9));
}

static inline int arch_irqs_disabled(void)
{
	unsigned long flags = arch_local_save_flags();

	return arch_irqs_disabled_flags(flags);
}

static inline void arch_local_irq_restore(unsigned long flags)
{
	if (!arch_irqs_disabled_flags(flags))
		arch_local_irq_enable();
}

#define typecheck(type, x) ({ type __dummy; typeof(x) __dummy2; (void)(&__dummy == &__dummy2); 1; })
#define local_irq_save(flags) do { typecheck(unsigned long, flags); flags = arch_local_irq_save(); } while (0)
#define local_irq_restore(flags) do { typecheck(unsigned long, flags); arch_local_irq_restore(flags); } while (0)
#define local_irq_disable() do { arch_local_irq_disable(); } while (0)
#define local_irq_enable() do { arch_local_irq_enable(); } while (0)
#define irqs_disabled() arch_irqs_disabled()
#define spin_lock_irqsave(lock, flags) do { typecheck(unsigned long, flags); \
	flags = _raw_spin_lock_irqsave(&(lock)->rlock); } while (0)
static inline void spin_lock(spinlock_t *lock) { _raw_spin_lock(&lock->rlock); }
static inline void spin_unlock(spinlock_t *lock) { _raw_spin_unlock(&lock->rlock); }
static inline void spin_lock_irq(spinlock_t *lock) { _raw_spin_lock_irq(&lock->rlock); }
static inline void spin_unlock_irq(spinlock_t *lock) { _raw_spin_unlock_irq(&lock->rlock); }
static inline void spin_unlock_irqrestore(spinlock_t *lock, unsigned long flags)
{
	_raw_spin_unlock_irqrestore(&lock->rlock, flags);
}
#define spin_trylock_irqsave(lock, flags) ({ local_irq_save(flags); \
	_raw_spin_trylock(&(lock)->rlock) ? 1 : ({ local_irq_restore(flags); 0; }); })

struct ring {
	spinlock_t lock, other;
	unsigned long flags;
	int head, tail, slot[8];
};
void wake(struct ring *);
void report(int);

int put(struct ring *r, int value) //~ clean
{
	unsigned long flags;

	spin_lock_irqsave(&r->lock, flags);
	if (r->head - r->tail == 8) {
		spin_unlock_irqrestore(&r->lock, flags);
		return -1;
	}
	r->slot[r->head++ & 7] = value;
	spin_unlock_irqrestore(&r->lock, flags);
	return 0;
}

int put_badly(struct ring *r, int value)
{
	unsigned long flags;

	spin_lock_irqsave(&r->lock, flags);
	if (r->head - r->tail == 8) {
		spin_unlock(&r->lock);
		return -1; //~ lock/irq-flags
	}
	r->slot[r->head++ & 7] = value;
	spin_unlock_irqrestore(&r->lock, flags);
	return 0;
}

void put_always_badly(struct ring *r, int value)
{
	unsigned long flags;

	spin_lock_irqsave(&r->lock, flags);
	r->slot[r->head++ & 7] = value;
	spin_unlock(&r->lock);
} //~ lock/irq-flags

/* Taken in one order and given back in the other: what is restored is right. */
void swap(struct ring *r) //~ clean
{
	unsigned long flags;

	spin_lock_irqsave(&r->lock, flags);
	spin_lock(&r->other);
	r->head = 0;
	spin_unlock(&r->lock);
	r->tail = 0;
	spin_unlock_irqrestore(&r->other, flags);
}

void nested(struct ring *a, struct ring *b) //~ clean
{
	unsigned long flags, inner;

	spin_lock_irqsave(&a->lock, flags);
	spin_lock_irqsave(&b->lock, inner);
	b->head = a->head;
	spin_unlock_irqrestore(&b->lock, inner);
	spin_unlock_irqrestore(&a->lock, flags);
}

void nested_in_one(struct ring *a, struct ring *b)
{
	unsigned long flags;

	spin_lock_irqsave(&a->lock, flags);
	spin_lock_irqsave(&b->lock, flags);
	b->head = a->head;
	spin_unlock_irqrestore(&b->lock, flags);
	spin_unlock_irqrestore(&a->lock, flags);
} //~ lock/irq-flags

void crossed(struct ring *a, struct ring *b)
{
	unsigned long flags, inner;

	spin_lock_irqsave(&a->lock, flags);
	spin_lock_irqsave(&b->lock, inner);
	b->head = a->head;
	spin_unlock_irqrestore(&b->lock, flags);
	spin_unlock_irqrestore(&a->lock, inner); //~ lock/irq-flags
}

void never_saved(struct ring *r)
{
	unsigned long flags, saved;

	spin_lock_irqsave(&r->lock, saved);
	r->head = 0;
	spin_unlock_irqrestore(&r->lock, flags);
} //~ lock/irq-flags

/* One lock, one mistake: that it is kept is what is reported. */
int keeps_both(struct ring *r)
{
	unsigned long flags;

	spin_lock_irqsave(&r->lock, flags);
	if (r->head == r->tail)
		return -1; //~ lock/inconsistent-exit
	if (r->head < r->tail) {
		spin_unlock_irqrestore(&r->lock, flags);
		return -1;
	}
	r->tail++;
	spin_unlock_irqrestore(&r->lock, flags);
	return 0;
}

/* Given up and taken again: it is called with interrupts off. */
static void drain(struct ring *r) //~ clean
{
	while (r->head != r->tail) {
		spin_unlock_irq(&r->lock);
		wake(r);
		spin_lock_irq(&r->lock);
	}
}

void flush(struct ring *r) //~ clean
{
	spin_lock_irq(&r->lock);
	drain(r);
	spin_unlock_irq(&r->lock);
}

/* But whoever has saved the flags has not meant that. */
void flush_saved(struct ring *r)
{
	unsigned long flags;

	spin_lock_irqsave(&r->lock, flags);
	r->tail = 0;
	spin_unlock_irq(&r->lock);
	wake(r);
	spin_lock(&r->lock);
	r->head = 0;
	spin_unlock_irqrestore(&r->lock, flags); //~ lock/irq-flags
}

static void clear(struct ring *r)
{
	spin_lock_irq(&r->other);
	r->slot[0] = 0;
	spin_unlock_irq(&r->other);
}

void reset(struct ring *r)
{
	unsigned long flags;

	spin_lock_irqsave(&r->lock, flags);
	r->head = r->tail = 0;
	clear(r);
	spin_unlock_irqrestore(&r->lock, flags); //~ lock/irq-flags
}

/* Wrappers: by result, through a pointer, in a member. */
static unsigned long ring_lock(struct ring *r) //~ clean
{
	unsigned long flags;

	spin_lock_irqsave(&r->lock, flags);
	return flags;
}

static void ring_unlock(struct ring *r, unsigned long flags) //~ clean
{
	spin_unlock_irqrestore(&r->lock, flags);
}

static void ring_get(struct ring *r, unsigned long *flags) //~ clean
{
	spin_lock_irqsave(&r->lock, *flags);
}

static void ring_hold(struct ring *r) //~ clean
{
	unsigned long flags;

	spin_lock_irqsave(&r->lock, flags);
	r->flags = flags;
}

static void ring_drop(struct ring *r) //~ clean
{
	spin_unlock_irqrestore(&r->lock, r->flags);
}

int by_wrappers(struct ring *r) //~ clean
{
	unsigned long flags = ring_lock(r);

	r->head = 0;
	ring_unlock(r, flags);
	ring_get(r, &flags);
	r->tail = 0;
	ring_unlock(r, flags);
	ring_hold(r);
	r->tail = 0;
	ring_drop(r);
	return 0;
}

int by_wrappers_badly(struct ring *r)
{
	unsigned long flags;

	ring_get(r, &flags);
	r->tail = 0;
	spin_unlock(&r->lock);
	return 0; //~ lock/irq-flags
}

/* What the caller knows of the flags is its own affair. */
void ring_release(struct ring *r, unsigned long flags) //~ clean
{
	r->head = 0;
	spin_unlock_irqrestore(&r->lock, flags);
}

int try(struct ring *r) //~ clean
{
	unsigned long flags;

	if (!spin_trylock_irqsave(&r->lock, flags))
		return -1;
	r->head = 0;
	spin_unlock_irqrestore(&r->lock, flags);
	return 0;
}

int poll(struct ring *r, int in_interrupt) //~ clean
{
	unsigned long flags = 0;
	int head;

	if (!in_interrupt)
		spin_lock_irqsave(&r->lock, flags);
	head = r->head;
	if (!in_interrupt)
		spin_unlock_irqrestore(&r->lock, flags);
	return head;
}

unsigned long count(struct ring *r) //~ clean
{
	unsigned long flags;

	local_irq_save(flags);
	r->head++;
	local_irq_restore(flags);
	local_irq_disable();
	r->tail++;
	local_irq_enable();
	return r->head;
}

int count_badly(struct ring *r)
{
	local_irq_disable();
	if (r->head == 8)
		return -1; //~ lock/irq-flags
	r->head++;
	local_irq_enable();
	return 0;
}

/* Decided by what is found. */
void either(struct ring *r) //~ clean
{
	if (irqs_disabled()) {
		spin_lock(&r->lock);
		r->head = 0;
		spin_unlock(&r->lock);
	} else {
		spin_lock_irq(&r->lock);
		r->head = 0;
		spin_unlock_irq(&r->lock);
	}
}

/* A function that is entered with them off, and says so by what it does. */
static void step(struct ring *r) //~ clean
{
	local_irq_enable();
	wake(r);
	local_irq_disable();
}

void idle(struct ring *r) //~ clean
{
	local_irq_disable();
	step(r);
	local_irq_enable();
}

/* Turned on again on one path only: whoever has them off does not call it. */
int count_unless(struct ring *r, int quick) //~ clean
{
	if (quick)
		return 0;
	spin_lock_irq(&r->lock);
	r->head++;
	spin_unlock_irq(&r->lock);
	return 0;
}

/* Halves of one thing: the lock and what the flags keep go from one to the other. */
static spinlock_t clock_lock;

unsigned long update_begin(void) //~ clean
{
	unsigned long flags;

	spin_lock_irqsave(&clock_lock, flags);
	return flags;
}

void update_end(unsigned long flags) //~ clean
{
	spin_unlock_irqrestore(&clock_lock, flags);
}

/* Interrupts are turned off by themselves, and nothing is kept to turn them on again by: the machine stops. */
void quiesce(struct ring *r);

static void stop_machine(struct ring *r) //~ clean
{
	local_irq_disable();
	quiesce(r);
}

void power_off(struct ring *r) //~ clean
{
	wake(r);
	stop_machine(r);
}

/* With a lock it is a mistake. */
void stop_for_a_while_badly(struct ring *r)
{
	spin_lock_irq(&r->lock);
	quiesce(r);
	spin_unlock(&r->lock);
} //~ lock/irq-flags

/* So it is with the flags at hand. */
int count_for_a_while_badly(struct ring *r)
{
	unsigned long flags;

	local_irq_save(flags);
	r->head++;
	return flags != 0; //~ lock/irq-flags
}

/* What was saved is lost: that somebody turns interrupts on at some time is no answer. */
static void put_and_forget(struct ring *r, int value)
{
	unsigned long flags;

	spin_lock_irqsave(&r->lock, flags);
	r->slot[r->head++] = value;
	spin_unlock(&r->lock);
} //~ lock/irq-flags

void put_and_wait(struct ring *r)
{
	put_and_forget(r, 1);
	spin_lock_irq(&r->lock);
	r->head++;
	spin_unlock_irq(&r->lock);
}

/* Here somebody else has it. */
void ring_resume(struct ring *r, unsigned long flags);

static void put_and_tell(struct ring *r, int value) //~ clean
{
	unsigned long flags;

	spin_lock_irqsave(&r->lock, flags);
	r->slot[r->head++] = value;
	spin_unlock(&r->lock);
	ring_resume(r, flags);
}

void tell_and_wait(struct ring *r)
{
	put_and_tell(r, 1);
	spin_lock_irq(&r->lock);
	r->head++;
	spin_unlock_irq(&r->lock);
}

/* A guard has it in what it returns. */
struct irq_guard { unsigned long flags; };

static struct irq_guard guard_begin(void) //~ clean
{
	struct irq_guard guard;

	local_irq_save(guard.flags);
	return guard;
}

void guarded(struct ring *r) //~ clean
{
	struct irq_guard guard = guard_begin();

	r->head++;
	local_irq_restore(guard.flags);
}

/* Of one cause one report. */
void put_twice(struct ring *r) //~ clean
{
	put_and_forget(r, 2);
	wake(r);
}
