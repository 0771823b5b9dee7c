typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

struct port { spinlock_t lock; int count; };

int rx_poll(struct port *port);
int tx_poll(struct port *port);
