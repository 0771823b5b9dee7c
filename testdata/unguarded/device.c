/* A driver: its entry points run beside each other. A flag that is read without the lock on purpose, a member that is only read, and one
   that each entry point but one changes under the lock. */
#define READ_ONCE(x) (*(const volatile typeof(x) *)&(x))

typedef struct { int raw; } spinlock_t;
void spin_lock(spinlock_t *);
void spin_unlock(spinlock_t *);
void spin_lock_init(spinlock_t *);
void *kzalloc(unsigned long, unsigned);
void kfree(const void *);
void out(int, int);

struct device {
    spinlock_t lock;
    int port;
    int pending;
    int flags;
    int stopped;
    struct { int sent; int lost; } stats;
};

struct operations {
    void (*start)(struct device *);
    void (*stop)(struct device *);
    void (*kick)(struct device *);
    void (*poll)(struct device *);
    void (*reset)(struct device *);
};

static void setup(struct device *d, int port)
{
    d->port = port;
    d->pending = 0; /* only on what probe has just made */
    d->stats.sent = 0;
}

struct device *probe(int port)
{
    struct device *d = kzalloc(sizeof *d, 0);
    if (!d)
        return 0;
    spin_lock_init(&d->lock);
    setup(d, port);
    return d;
}

static void send(struct device *d)
{
    out(d->port, d->pending);
    d->pending = 0;
    d->stats.sent++;
}

static void start(struct device *d)
{
    spin_lock(&d->lock);
    d->stopped = 0;
    d->flags |= 1;
    send(d);
    spin_unlock(&d->lock);
}

static void stop(struct device *d)
{
    spin_lock(&d->lock);
    d->stopped = 1;
    d->flags &= ~1;
    d->pending = 0;
    d->stats.sent++;
    spin_unlock(&d->lock);
}

static void kick(struct device *d)
{
    if (READ_ONCE(d->stopped)) /* meant to be read without the lock */
        return;
    spin_lock(&d->lock);
    d->stopped = 0;
    d->pending++;
    d->flags |= 2;
    d->stats.sent++;
    send(d);
    spin_unlock(&d->lock);
}

static void poll(struct device *d)
{
    spin_lock(&d->lock);
    d->stopped = d->pending > 0;
    send(d);
    spin_unlock(&d->lock);
    out(d->port, 1);
}

static void reset(struct device *d)
{
#ifdef FIXED
    spin_lock(&d->lock);
    d->flags = 0;
    d->stats.sent = 0;
    spin_unlock(&d->lock);
#else
    spin_lock(&d->lock);
    spin_unlock(&d->lock);
    d->flags = 0; //~ race/unguarded
    d->stats.sent = 0; //~ note race/unguarded
#endif
}

void gone(struct device *d)
{
    d->flags = 0; /* freed below */
    kfree(d);
}

const struct operations operations = { start, stop, kick, poll, reset };
