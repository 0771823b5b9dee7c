/* How sure a finding is: what else the program does with locks of that kind tells. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
int spin_trylock(spinlock_t *lock);
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
int busy(void *);

struct table { struct mutex lock; int count; };
struct queue { spinlock_t lock; int length; };
struct session { struct mutex lock; int users; };
struct port { spinlock_t lock; struct port *next; int open; };

/* Nobody hands over a table's lock. */
void touch(struct table *t) //~ clean
{
	mutex_lock(&t->lock);
	t->count++;
	mutex_unlock(&t->lock);
}

void forget_to_lock(struct table *t)
{
	t->count = 0;
	mutex_unlock(&t->lock); //~ certain lock/unlock-unheld
}

/* Seen from a caller that holds the lock it would be inconsistent; but there is none. */
int forget_to_lock_here(struct table *t, int n)
{
	int ret = -22;

	if (n < 0)
		return -22;
	if (t->count > n)
		goto out;
	t->count = n;
	ret = 0;
out:
	mutex_unlock(&t->lock); //~ certain lock/unlock-unheld
	return ret;
}

/* A queue's lock is handed over, but to those only who give it back. */
static void grab(struct queue *q) //~ clean
{
	spin_lock(&q->lock);
	q->length++;
}

void use(struct queue *q) //~ clean
{
	grab(q);
	spin_unlock(&q->lock);
}

void drop(struct queue *q)
{
	q->length--;
	spin_unlock(&q->lock); //~ certain lock/unlock-unheld
}

/* All others who call it give the lock back. */
static int enter(struct session *s) //~ clean
{
	mutex_lock(&s->lock);
	return s->users++;
}

static void leave(struct session *s) //~ clean
{
	s->users--;
	mutex_unlock(&s->lock);
}

void visit(struct session *s) //~ clean
{
	enter(s);
	leave(s);
}

void never_leave(struct session *s)
{
	enter(s);
	s->users = 0;
} //~ certain lock/held-on-exit

/* What a callee without loops and callees does is known for sure. */
static int try_port(struct port *p) //~ clean
{
	if (!spin_trylock(&p->lock))
		return 0;
	p->open++;
	return 1;
}

void port_good(struct port *p) //~ clean
{
	if (try_port(p))
		spin_unlock(&p->lock);
}

void port_bad(struct port *p)
{
	try_port(p);
	spin_unlock(&p->lock); //~ certain lock/double-unlock
}

/* Who calls a callback, and with what held, nobody knows (kref_put_mutex takes a lock for its). */
void each(struct table *t, int (*visit)(struct table *));

static int each_table(struct table *t) //~ clean
{
	t->count++;
	mutex_unlock(&t->lock);
	return 0;
}

void visit_all(struct table *t) //~ clean
{
	each(t, each_table);
}
