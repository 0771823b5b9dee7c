typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

struct pool { spinlock_t lock; int count; };

int pool_take(struct pool *pool);
int pool_drain(struct pool *pool);
void pool_work(struct pool *pool, int bad);

/* What each program does where it goes no further. */
void give_up(struct pool *pool);
