/* Two drivers of one bus, each with its own way to read. */
typedef struct { int v; } spinlock_t;
struct mutex { int v; };
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct bus { int (*read)(struct bus *bus, int reg); void *priv; };
