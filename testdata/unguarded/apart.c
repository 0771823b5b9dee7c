/* What keeps two accesses apart although one of them does without the lock that most hold: another lock that both hold, callers that hold it
   where they call through a table, and that nobody else works on the object yet, or any more. */
typedef struct { int raw; } spinlock_t;
void spin_lock(spinlock_t *);
void spin_unlock(spinlock_t *);
struct mutex { int raw; };
void mutex_lock(struct mutex *);
void mutex_unlock(struct mutex *);
void out(int);

struct timer {
    spinlock_t lock;
    struct mutex setup;
    int *queue;
    int ticks;
    int state;
    int mode;
};

/* Who changes the queue holds both locks, so that either is enough to read it. */
void timer_resize(struct timer *t, int *queue)
{
    mutex_lock(&t->setup);
    spin_lock(&t->lock);
    t->queue = queue;
    t->ticks = 0;
    t->state = 1;
    t->mode = 1;
    spin_unlock(&t->lock);
    mutex_unlock(&t->setup);
}

int timer_first(struct timer *t)
{
    int first;

    spin_lock(&t->lock);
    first = t->queue[0];
    t->ticks++;
    t->state = 2;
    t->mode = 2;
    spin_unlock(&t->lock);
    return first;
}

int timer_second(struct timer *t)
{
    int second;

    spin_lock(&t->lock);
    second = t->queue[1];
    t->ticks++;
    t->state = 3;
    t->mode = 3;
    spin_unlock(&t->lock);
    return second;
}

int timer_third(struct timer *t)
{
    int third;

    spin_lock(&t->lock);
    third = t->queue[2];
    t->ticks--;
    spin_unlock(&t->lock);
    return third;
}

int timer_all(struct timer *t)
{
    int all = 0;

#ifdef FIXED
    mutex_lock(&t->setup);
#endif
    for (int i = 0; i < 3; i++)
        all += t->queue[i]; //~ race/unguarded
#ifdef FIXED
    mutex_unlock(&t->setup);
#endif
    return all;
}

/* Nobody knows the timer yet: its lock is stored here. */
void timer_begin(struct timer *t)
{
    t->lock = (spinlock_t){ 0 };
    t->ticks = 0;
    t->queue = 0;
}

/* By the first and the second half of a probe, and by what tears the timer down. */
static void halt(struct timer *t)
{
    t->state = 0;
}

void timer_probe2(struct timer *t)
{
    halt(t);
    t->mode = 0;
}

void timer_deregister(struct timer *t)
{
    halt(t);
}

void timer_set_mode(struct timer *t)
{
#ifdef FIXED
    spin_lock(&t->lock);
#endif
    t->mode = 0; //~ race/unguarded
#ifdef FIXED
    spin_unlock(&t->lock);
#endif
}

void timer_pause(struct timer *t)
{
    spin_lock(&t->lock);
    halt(t);
    t->mode = 0;
    spin_unlock(&t->lock);
}
