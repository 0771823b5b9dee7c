/* Callers that cannot meet what a function states to be held. */
#define __must_hold(x)
#define lockdep_assert_held(l) do { (void)(l); } while (0)
#define WARN_ON(condition) ((condition) ? warn() : 0)
int warn(void);
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
int mutex_is_locked(struct mutex *lock);
typedef struct spinlock { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

struct ring { struct mutex lock; spinlock_t tail; int head, used; };

static void advance(struct ring *r) //~ clean
	__must_hold(&r->lock)
{
	r->head++;
}

static void drop_tail(struct ring *r) //~ clean
{
	lockdep_assert_held(&r->tail);
	r->used--;
}

void push(struct ring *r) //~ clean
{
	mutex_lock(&r->lock);
	advance(r);
	mutex_unlock(&r->lock);
}

void push_late(struct ring *r)
{
	mutex_lock(&r->lock);
	r->used++;
	mutex_unlock(&r->lock);
	advance(r); //~ certain lock/unlock-unheld
}

void push_early(struct ring *r)
{
	advance(r); //~ certain lock/unlock-unheld
	mutex_lock(&r->lock);
	r->used++;
	mutex_unlock(&r->lock);
}

/* Nobody calls it, and others take the lock. */
void push_bare(struct ring *r)
{
	r->used++;
	advance(r); //~ certain lock/unlock-unheld
}

/* The lock is held where it matters. */
int push_if(struct ring *r, int wanted) //~ clean
{
	if (wanted)
		mutex_lock(&r->lock);
	r->used++;
	if (wanted) {
		advance(r);
		mutex_unlock(&r->lock);
	}
	return wanted;
}

int push_unless(struct ring *r, int full)
{
	mutex_lock(&r->lock);
	if (full)
		mutex_unlock(&r->lock);
	advance(r); //~ certain lock/unlock-unheld
	if (!full)
		mutex_unlock(&r->lock);
	return full;
}

/* Called with the lock held by the one, and by the other not. */
static void pop_one(struct ring *r)
{
	r->used--;
	drop_tail(r);
}

void pop(struct ring *r) //~ clean
{
	spin_lock(&r->tail);
	pop_one(r);
	spin_unlock(&r->tail);
}

void pop_after(struct ring *r)
{
	spin_lock(&r->tail);
	r->head--;
	spin_unlock(&r->tail);
	pop_one(r); //~ certain lock/unlock-unheld
}

/* Given up in between, as the one that calls it knows. */
void pop_slowly(struct ring *r) //~ clean
	__must_hold(&r->tail)
{
	drop_tail(r);
	spin_unlock(&r->tail);
	warn();
	spin_lock(&r->tail);
	drop_tail(r);
}

/* Stored, and called by who knows whom. */
struct ring_ops { void (*reset)(struct ring *r); };
static void reset(struct ring *r) //~ clean
{
	advance(r);
}
struct ring_ops ring_ops = { .reset = reset };

/* Another ring's lock. */
struct rings { struct ring *current, *next; };
void swap_rings(struct rings *rings) //~ clean
{
	mutex_lock(&rings->current->lock);
	rings->next = rings->current;
	advance(rings->next);
	mutex_unlock(&rings->current->lock);
}

/* A check that it is held, and no question. */
struct drum { struct mutex lock; int turns; };
static void turn(struct drum *d) //~ clean
{
	WARN_ON(!mutex_is_locked(&d->lock));
	d->turns++;
}

void spin_drum(struct drum *d) //~ clean
{
	mutex_lock(&d->lock);
	turn(d);
	mutex_unlock(&d->lock);
}

void spin_drum_late(struct drum *d)
{
	mutex_lock(&d->lock);
	d->turns = 0;
	mutex_unlock(&d->lock);
	turn(d); //~ certain lock/unlock-unheld
}

/* Says itself what it needs, and gives it up to wait. */
int wait_for(struct ring *r);
int reserve(struct ring *r, int wanted) //~ clean
	__must_hold(&r->lock)
{
	if (r->used + wanted > 64) {
		mutex_unlock(&r->lock);
		wait_for(r);
		mutex_lock(&r->lock);
		if (r->used + wanted > 64)
			return 0;
	}
	r->used += wanted;
	return 1;
}

/* Which of two it holds is open. */
struct choice { struct ring *first, *second; int which; };
void advance_chosen(struct choice *c, struct ring *found) //~ clean
{
	struct ring *r = c->which ? c->first : c->second;

	mutex_lock(&r->lock);
	advance(found);
	mutex_unlock(&r->lock);
	mutex_lock(&found->lock);
	found->used = 0;
	mutex_unlock(&found->lock);
}

void advance_another(struct choice *c, struct ring *found)
{
	advance(found); //~ certain lock/unlock-unheld
	mutex_lock(&found->lock);
	found->used = c->which;
	mutex_unlock(&found->lock);
}

/* Takes the lock if it is told that nobody has. */
void submit(struct ring *r, int unlocked) //~ clean
{
	if (unlocked)
		mutex_lock(&r->lock);
	r->used++;
	if (unlocked)
		mutex_unlock(&r->lock);
}

void receive(struct ring *r, int unlocked) //~ clean
{
	submit(r, unlocked);
	advance(r);
}

void receive_always(struct ring *r)
{
	push(r);
	advance(r); //~ certain lock/unlock-unheld
}

/* The owner's lock is the one that its slots mean. */
struct owner { struct mutex lock; struct slot *first; int slots; };
struct slot { struct owner *owner; struct slot *next; };
static void unhash(struct slot *s) //~ clean
	__must_hold(&s->owner->lock)
{
	s->owner->slots--;
}

static void release_owner(struct owner *o) //~ clean
{
	mutex_lock(&o->lock);
	while (o->first) {
		unhash(o->first);
		o->first = o->first->next;
	}
	mutex_unlock(&o->lock);
}

void replace_owner(struct owner *o) //~ clean
{
	mutex_lock(&o->lock);
	o->slots++;
	mutex_unlock(&o->lock);
	release_owner(o);
}

/* Nobody else knows of it yet. */
struct ring *ring_alloc(int size);
void publish(struct ring *r);

struct ring *make_ring(int size)
{
	struct ring *r = ring_alloc(size);

	if (!r)
		return 0;
	advance(r); //~ known-false-positive note lock/unlock-unheld
	publish(r);
	push(r);
	return r;
}

/* The one way asks for a lock that the other takes: no caller holds it. Which method there is hangs on the same. */
struct card { struct mutex lock, ring; int revision, queued; int (*issue)(struct card *c, int command); };

static int issue_old(struct card *c, int command) //~ clean
{
	lockdep_assert_held(&c->lock);
	return c->queued += command;
}

static int issue_new(struct card *c, int command) //~ untouched
{
	return c->queued -= command;
}

void set_up(struct card *c) //~ clean
{
	c->issue = c->revision == 4 ? issue_new : issue_old;
}

int issue(struct card *c, int command) //~ clean
{
	int result;

	if (c->revision == 4) {
		mutex_lock(&c->ring);
		result = c->issue(c, command);
		mutex_unlock(&c->ring);
	} else {
		mutex_lock(&c->lock);
		result = c->issue(c, command);
		mutex_unlock(&c->lock);
	}
	return result;
}

int issue_after(struct card *c, int command) //~ clean
{
	mutex_lock(&c->lock);
	c->queued++;
	mutex_unlock(&c->lock);
	return issue(c, command);
}
