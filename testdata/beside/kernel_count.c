/* References are counted by the kernel's atomic operations, whose bodies are assembler. Who finds the table has a reference to it, which is taken
   before the lock is given back. */
struct mutex { int raw; };
void mutex_lock(struct mutex *);
void mutex_unlock(struct mutex *);
void *kmalloc(unsigned long, unsigned);
void kfree(const void *);

typedef struct { int counter; } atomic_t;

static inline __attribute__((always_inline)) void arch_atomic_inc(atomic_t *v)
{
    asm volatile("lock; incl %0" : "+m" (v->counter) :: "memory");
}

static inline __attribute__((always_inline)) int arch_atomic_fetch_sub(int i, atomic_t *v)
{
    int old = -i;

    asm volatile("lock; xaddl %0, %1" : "+r" (old), "+m" (v->counter) :: "memory");
    return old;
}

typedef struct { atomic_t refs; } refcount_t;

static inline void refcount_inc(refcount_t *r)
{
    arch_atomic_inc(&r->refs);
}

static inline int refcount_sub_and_test(int i, refcount_t *r)
{
    return arch_atomic_fetch_sub(i, &r->refs) == i;
}

struct table {
    refcount_t users;
    int *rows;
};

struct device {
    struct mutex lock;
    struct table *table;
};

static int *take_rows(struct device *d)
{
    int *rows = 0;

    mutex_lock(&d->lock);
    if (d->table) {
#ifdef FIXED
        refcount_inc(&d->table->users);
#endif
        rows = d->table->rows;
    }
    mutex_unlock(&d->lock);
    return rows;
}

int device_first(struct device *d)
{
    int *rows = take_rows(d);

    return rows ? rows[0] : 0; //~ race/interleaved
}

void device_forget(struct device *d)
{
    struct table *table;

    mutex_lock(&d->lock);
    table = d->table;
    if (table && refcount_sub_and_test(1, &table->users)) {
        d->table = 0;
        kfree(table->rows);
        kfree(table);
    }
    mutex_unlock(&d->lock);
}
