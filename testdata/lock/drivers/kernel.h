typedef unsigned long size_t; typedef unsigned gfp_t;
#define NULL ((void *)0)
typedef _Bool bool;
#define true 1
#define false 0
typedef struct spinlock { struct { int x; } rlock; } spinlock_t;
struct mutex { int c; };
struct rw_semaphore { long c; };
struct semaphore { int c; };
typedef struct { int c; } rwlock_t;
extern void mutex_lock(struct mutex *); extern void mutex_unlock(struct mutex *); extern int mutex_trylock(struct mutex *);
extern int mutex_lock_interruptible(struct mutex *); extern int mutex_lock_killable(struct mutex *);
extern void spin_lock(spinlock_t *); extern void spin_unlock(spinlock_t *); extern int spin_trylock(spinlock_t *);
extern void spin_lock_bh(spinlock_t *); extern void spin_unlock_bh(spinlock_t *);
extern void spin_lock_irq(spinlock_t *); extern void spin_unlock_irq(spinlock_t *);
unsigned long _raw_spin_lock_irqsave(spinlock_t *); void _raw_spin_unlock_irqrestore(spinlock_t *, unsigned long);
#define spin_lock_irqsave(l, f) do { f = _raw_spin_lock_irqsave(l); } while (0)
#define spin_unlock_irqrestore(l, f) _raw_spin_unlock_irqrestore(l, f)
void down_read(struct rw_semaphore *); void up_read(struct rw_semaphore *); void down_write(struct rw_semaphore *); void up_write(struct rw_semaphore *);
int down_read_trylock(struct rw_semaphore *); int down_write_killable(struct rw_semaphore *); void downgrade_write(struct rw_semaphore *);
int down_interruptible(struct semaphore *); void up(struct semaphore *); void down(struct semaphore *); int down_trylock(struct semaphore *);
void read_lock(rwlock_t *); void read_unlock(rwlock_t *); void write_lock(rwlock_t *); void write_unlock(rwlock_t *);
#define offsetof(t, m) __builtin_offsetof(t, m)
#define container_of(ptr, type, member) ({ void *__mptr = (void *)(ptr); ((type *)(__mptr - offsetof(type, member))); })
#define MAX_ERRNO 4095
#define IS_ERR_VALUE(x) __builtin_expect(!!((unsigned long)(void *)(x) >= (unsigned long)-MAX_ERRNO), 0)
static inline void *ERR_PTR(long e) { return (void *)e; }
static inline long PTR_ERR(const void *p) { return (long)p; }
static inline bool IS_ERR(const void *p) { return IS_ERR_VALUE((unsigned long)p); }
static inline bool IS_ERR_OR_NULL(const void *p) { return !p || IS_ERR_VALUE((unsigned long)p); }
struct list_head { struct list_head *next, *prev; };
#define list_entry(p, t, m) container_of(p, t, m)
#define list_for_each_entry(pos, head, member) for (pos = list_entry((head)->next, typeof(*pos), member); &pos->member != (head); pos = list_entry(pos->member.next, typeof(*pos), member))
#define EINTR 4
#define EAGAIN 11
#define ENOMEM 12
#define EBUSY 16
#define ENODEV 19
#define EINVAL 22
#define ERESTARTSYS 512
void *kmalloc(size_t, gfp_t); void kfree(const void *); void schedule(void);
