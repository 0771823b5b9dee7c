/* What Linux looks like after preprocessing on x86: the wrappers are there with their bodies. */
typedef struct { int slock; } arch_spinlock_t;
typedef struct raw_spinlock { arch_spinlock_t raw_lock; } raw_spinlock_t;
typedef struct spinlock { union { struct raw_spinlock rlock; }; } spinlock_t;
#define inline inline __attribute__((__gnu_inline__)) __attribute__((__unused__)) __attribute__((no_instrument_function))
#define __always_inline inline __attribute__((__always_inline__))
void _raw_spin_lock(raw_spinlock_t *lock) __attribute__((section(".spinlock.text")));
unsigned long _raw_spin_lock_irqsave(raw_spinlock_t *lock) __attribute__((section(".spinlock.text")));
int _raw_spin_trylock(raw_spinlock_t *lock);
void _raw_spin_unlock_irqrestore(raw_spinlock_t *lock, unsigned long flags);

static inline void arch_spin_unlock(arch_spinlock_t *lock)
{
	asm volatile("movb $0, %0" : "=m" (lock->slock) : : "memory");
}

static inline void do_raw_spin_unlock(raw_spinlock_t *lock)
{
	arch_spin_unlock(&lock->raw_lock);
	(void)0;
}

static inline void __raw_spin_unlock(raw_spinlock_t *lock)
{
	do { } while (0);
	do_raw_spin_unlock(lock);
	do { __asm__ __volatile__("" : : : "memory"); } while (0);
}

static __always_inline raw_spinlock_t *spinlock_check(spinlock_t *lock)
{
	return &lock->rlock;
}

static __always_inline void spin_lock(spinlock_t *lock)
{
	_raw_spin_lock(&lock->rlock);
}

static __always_inline void spin_unlock(spinlock_t *lock)
{
	__raw_spin_unlock(&lock->rlock);
}

static __always_inline int spin_trylock(spinlock_t *lock)
{
	return (_raw_spin_trylock(&lock->rlock));
}

static __always_inline void spin_unlock_irqrestore(spinlock_t *lock, unsigned long flags)
{
	_raw_spin_unlock_irqrestore(&lock->rlock, flags);
}

#define spin_lock_irqsave(lock, flags) \
do { \
	do { ({ unsigned long __dummy; typeof(flags) __dummy2; (void)(&__dummy == &__dummy2); 1; }); \
	     flags = _raw_spin_lock_irqsave(spinlock_check(lock)); } while (0); \
} while (0)

struct ring { spinlock_t lock; raw_spinlock_t raw; int head, tail; };

int ring_put(struct ring *r) //~ clean
{
	unsigned long flags;

	spin_lock_irqsave(&r->lock, flags);
	r->head++;
	spin_unlock_irqrestore(&r->lock, flags);
	return r->head;
}

int ring_get(struct ring *r) //~ clean
{
	spin_lock(&r->lock);
	if (r->head == r->tail) {
		spin_unlock(&r->lock);
		return -1;
	}
	r->tail++;
	spin_unlock(&r->lock);
	return 0;
}

/* Taken as one kind, released as the other: the same lock all the same. */
int ring_mixed(struct ring *r) //~ clean
{
	spin_lock(&r->lock);
	r->tail = r->head;
	__raw_spin_unlock(spinlock_check(&r->lock));
	return 0;
}

int ring_flush(struct ring *r)
{
	unsigned long flags;

	spin_lock_irqsave(&r->lock, flags);
	while (r->head != r->tail)
		ring_get(r); //~ lock/double-lock
	spin_unlock_irqrestore(&r->lock, flags);
	return 0;
}

int ring_try(struct ring *r)
{
	if (!spin_trylock(&r->lock))
		return -1;
	_raw_spin_lock(&r->raw);
	if (r->head == r->tail) {
		__raw_spin_unlock(&r->raw);
		return -1; //~ lock/inconsistent-exit
	}
	r->head = 0;
	__raw_spin_unlock(&r->raw);
	spin_unlock(&r->lock);
	return 0;
}
