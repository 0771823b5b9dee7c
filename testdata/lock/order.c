/* Locks that are taken in different orders in different functions. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
int spin_trylock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
typedef struct { int v; } rwlock_t;
void _raw_read_lock(rwlock_t *lock);
void _raw_read_unlock(rwlock_t *lock);
void *kzalloc(unsigned long size);
int busy(void *);

struct item;
struct pool { struct mutex lock; spinlock_t list_lock; struct item *first; int count; };
struct item { int id; spinlock_t state_lock; struct mutex lock; struct pool *pool; struct item *parent; };
struct bus { struct mutex lock; int n; };
struct card { int n; struct mutex lock; struct bus *bus; };
struct port { int n, m; struct mutex lock; struct card *card; };
struct cache { rwlock_t tree_lock; int n; };
struct node { int n; rwlock_t node_lock; struct cache *cache; };
struct queue { spinlock_t head_lock; int n; };
struct job { int n; spinlock_t job_lock; struct queue *queue; };
struct disk { struct mutex open_lock; int n; };
struct part { int n; struct mutex part_lock; struct disk *disk; };
struct link { int n; spinlock_t link_lock; struct link *peer; };
struct left { struct mutex left_lock; int n; };
struct right { int n; struct mutex right_lock; struct left *left; };
struct outer { struct mutex outer_lock; int n; };
struct inner { int n; struct mutex inner_lock; struct outer *outer; };

/* Two functions, each with both locks: pool before item. Two do it so, one does not. */
void add(struct pool *p, struct item *i) //~ clean
{
	mutex_lock(&p->lock);
	mutex_lock(&i->lock);
	p->count++;
	mutex_unlock(&i->lock);
	mutex_unlock(&p->lock);
}

void move(struct pool *p, struct item *i) //~ clean
{
	mutex_lock(&p->lock);
	mutex_lock(&i->lock);
	i->pool = p;
	mutex_unlock(&i->lock);
	mutex_unlock(&p->lock);
}

void drop(struct item *i)
{
	mutex_lock(&i->lock);
	if (i->id) {
		mutex_lock(&i->pool->lock); //~ certain lock/order
		i->pool->count--;
		mutex_unlock(&i->pool->lock);
	}
	mutex_unlock(&i->lock);
}

/* The inner lock is taken by a callee. */
static void detach(struct item *i) //~ clean
{
	spin_lock(&i->state_lock);
	i->id = 0;
	spin_unlock(&i->state_lock);
}

void clear(struct pool *p) //~ clean
{
	spin_lock(&p->list_lock);
	detach(p->first);
	spin_unlock(&p->list_lock);
}

void reset(struct pool *p, struct item *i) //~ clean
{
	spin_lock(&p->list_lock);
	detach(i);
	p->count = 0;
	spin_unlock(&p->list_lock);
}

void requeue(struct item *i)
{
	spin_lock(&i->state_lock);
	spin_lock(&i->pool->list_lock); //~ certain lock/order
	i->pool->count++;
	spin_unlock(&i->pool->list_lock);
	spin_unlock(&i->state_lock);
}

/* A ring of three: bus, card, port. */
void scan(struct bus *b, struct card *c) //~ clean
{
	mutex_lock(&b->lock);
	mutex_lock(&c->lock);
	c->n++;
	mutex_unlock(&c->lock);
	mutex_unlock(&b->lock);
}

void plug(struct card *c, struct port *p) //~ clean
{
	mutex_lock(&c->lock);
	mutex_lock(&p->lock);
	p->n++;
	mutex_unlock(&p->lock);
	mutex_unlock(&c->lock);
}

void plug_all(struct card *c, struct port *p) //~ clean
{
	mutex_lock(&c->lock);
	mutex_lock(&p->lock);
	p->m++;
	mutex_unlock(&p->lock);
	mutex_unlock(&c->lock);
}

void rescan(struct bus *b, struct card *c) //~ clean
{
	mutex_lock(&b->lock);
	mutex_lock(&c->lock);
	c->n--;
	mutex_unlock(&c->lock);
	mutex_unlock(&b->lock);
}

void hotplug(struct port *p, struct bus *b)
{
	mutex_lock(&p->lock);
	mutex_lock(&b->lock); //~ certain lock/order
	b->n++;
	mutex_unlock(&b->lock);
	mutex_unlock(&p->lock);
}

/* Kept apart by a third lock around both. */
static struct mutex gate;

void fill(struct outer *o, struct inner *i) //~ clean
{
	mutex_lock(&gate);
	mutex_lock(&o->outer_lock);
	mutex_lock(&i->inner_lock);
	i->n++;
	mutex_unlock(&i->inner_lock);
	mutex_unlock(&o->outer_lock);
	mutex_unlock(&gate);
}

static void drain_locked(struct inner *i) //~ clean
{
	mutex_lock(&i->inner_lock);
	mutex_lock(&i->outer->outer_lock);
	i->outer->n++;
	mutex_unlock(&i->outer->outer_lock);
	mutex_unlock(&i->inner_lock);
}

void drain(struct inner *i) //~ clean
{
	mutex_lock(&gate);
	drain_locked(i);
	mutex_unlock(&gate);
}

/* The other way is only tried for. */
void submit(struct queue *q, struct job *j) //~ clean
{
	spin_lock(&q->head_lock);
	spin_lock(&j->job_lock);
	q->n++;
	spin_unlock(&j->job_lock);
	spin_unlock(&q->head_lock);
}

void cancel(struct job *j) //~ clean
{
again:
	spin_lock(&j->job_lock);
	if (!spin_trylock(&j->queue->head_lock)) {
		spin_unlock(&j->job_lock);
		goto again;
	}
	j->queue->n--;
	spin_unlock(&j->queue->head_lock);
	spin_unlock(&j->job_lock);
}

/* Held because it was tried for: the other waits for it all the same. */
void open_part(struct disk *d, struct part *p) //~ clean
{
	mutex_lock(&d->open_lock);
	mutex_lock(&p->part_lock);
	p->n++;
	mutex_unlock(&p->part_lock);
	mutex_unlock(&d->open_lock);
}

void close_part(struct part *p) //~ clean
{
	mutex_lock(&p->part_lock);
	p->n--;
	mutex_unlock(&p->part_lock);
	/* One after the other. */
	mutex_lock(&p->disk->open_lock);
	p->disk->n--;
	mutex_unlock(&p->disk->open_lock);
}

/* One class: the program has an order for the instances. */
void join(struct link *a) //~ clean
{
	spin_lock(&a->link_lock);
	spin_lock(&a->peer->link_lock);
	a->n = a->peer->n;
	spin_unlock(&a->peer->link_lock);
	spin_unlock(&a->link_lock);
}

/* Readers do not keep each other out. */
void look(struct cache *c, struct node *n) //~ clean
{
	_raw_read_lock(&c->tree_lock);
	_raw_read_lock(&n->node_lock);
	n->n++;
	_raw_read_unlock(&n->node_lock);
	_raw_read_unlock(&c->tree_lock);
}

void look_up(struct node *n) //~ clean
{
	_raw_read_lock(&n->node_lock);
	_raw_read_lock(&n->cache->tree_lock);
	n->n++;
	_raw_read_unlock(&n->cache->tree_lock);
	_raw_read_unlock(&n->node_lock);
}

/* Nobody else has the new one yet. */
void pair_up(struct left *l, struct right *r) //~ clean
{
	mutex_lock(&l->left_lock);
	mutex_lock(&r->right_lock);
	r->left = l;
	mutex_unlock(&r->right_lock);
	mutex_unlock(&l->left_lock);
}

struct right *make(struct left *l) //~ clean
{
	struct right *r = kzalloc(sizeof(*r));

	if (!r)
		return 0;
	mutex_lock(&r->right_lock);
	mutex_lock(&l->left_lock);
	r->left = l;
	mutex_unlock(&l->left_lock);
	mutex_unlock(&r->right_lock);
	return r;
}
