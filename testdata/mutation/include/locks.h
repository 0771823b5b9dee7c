/* What scripts/mutate knows of Linux, as far as these files need it. */
#define GFP_ATOMIC 0x20u
#define GFP_KERNEL 0xcc0u

typedef struct spinlock { int word; } spinlock_t;
struct mutex { int owner; };

void _raw_spin_lock(spinlock_t *lock);
void _raw_spin_unlock(spinlock_t *lock);
unsigned long _raw_spin_lock_irqsave(spinlock_t *lock);
void _raw_spin_unlock_irqrestore(spinlock_t *lock, unsigned long flags);
void mutex_lock(struct mutex *lock);
int mutex_lock_interruptible(struct mutex *lock);
void mutex_unlock(struct mutex *lock);

#define spin_lock(lock) _raw_spin_lock(lock)
#define spin_unlock(lock) _raw_spin_unlock(lock)
#define spin_lock_irqsave(lock, flags) ((flags) = _raw_spin_lock_irqsave(lock))
#define spin_unlock_irqrestore(lock, flags) _raw_spin_unlock_irqrestore(lock, flags)

void msleep(unsigned int milliseconds);
void schedule(void);
void synchronize_rcu(void);
void *kmalloc(unsigned long size, unsigned int flags);
void kfree(const void *object);
