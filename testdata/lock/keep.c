/* Functions that keep a lock or give it back as an argument says: what their callers do says whether that is meant. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
typedef _Bool bool;
#define NULL ((void *)0)

/* Meant: one caller gives back what it has asked to be kept. */
struct session { struct mutex lock; int uses; };

static int touch(struct session *s, int keep) //~ clean
{
	mutex_lock(&s->lock);
	s->uses++;
	if (!keep)
		mutex_unlock(&s->lock);
	return s->uses;
}

void touch_shortly(struct session *s) //~ clean
{
	touch(s, 0);
}

void touch_and_drop(struct session *s) //~ clean
{
	touch(s, 1);
	s->uses--;
	mutex_unlock(&s->lock);
}

void touch_and_forget(struct session *s)
{
	touch(s, 1);
	s->uses--;
} //~ certain lock/held-on-exit

void touch_and_drop_twice(struct session *s)
{
	touch(s, 0);
	s->uses--;
	mutex_unlock(&s->lock); //~ certain lock/double-unlock
}

/* The caller leaves it to its own argument. */
void touch_as_told(struct session *s, int keep) //~ clean
{
	touch(s, keep);
	if (keep) {
		s->uses--;
		mutex_unlock(&s->lock);
	}
}

struct visit { struct mutex lock; int uses; };

static void visit(struct visit *v, int keep) //~ clean
{
	mutex_lock(&v->lock);
	v->uses++;
	if (!keep)
		mutex_unlock(&v->lock);
}

void visit_and_drop(struct visit *v) //~ clean
{
	visit(v, 1);
	mutex_unlock(&v->lock);
}

void visit_and_wait(struct visit *v)
{
	visit(v, 1);
	mutex_lock(&v->lock); //~ certain lock/double-lock
	mutex_unlock(&v->lock);
}

/* Not meant: nobody gives it back. */
struct buffer { struct mutex lock; int used; char *bytes; };

void fill(struct buffer *b, int count)
{
	mutex_lock(&b->lock);
	if (count < 0)
		return; //~ certain lock/inconsistent-exit
	b->used += count;
	mutex_unlock(&b->lock);
}

void fill_some(struct buffer *b) //~ clean
{
	fill(b, 4);
}

/* What follows from that is told there. */
void fill_none(struct buffer *b) //~ clean
{
	fill(b, -1);
}

void fill_twice(struct buffer *b, int count) //~ clean
{
	fill(b, count);
	fill(b, count);
}

void fill_and_count(struct buffer *b, int count) //~ clean
{
	fill(b, count);
	mutex_lock(&b->lock);
	b->used++;
	mutex_unlock(&b->lock);
}

void fill_by_itself(struct buffer *b) //~ clean
{
	fill(b, b->used);
}

/* The same with a caller that says what it wants. */
struct area { struct mutex lock; int used; };

void reserve(struct area *a, int count) //~ clean
{
	mutex_lock(&a->lock);
	if (count < 0)
		return;
	a->used += count;
	mutex_unlock(&a->lock);
}

void begin(struct area *a) //~ clean
{
	reserve(a, -1);
	a->used = 0;
	mutex_unlock(&a->lock);
}

/* A flag, among others. */
#define KEEP_LOCKED 4
#define QUIET 1
struct file { struct mutex lock; int position; };

static void seek(struct file *f, int to, unsigned flags) //~ clean
{
	mutex_lock(&f->lock);
	if (!(flags & QUIET))
		f->position = to;
	if (flags & KEEP_LOCKED)
		return;
	mutex_unlock(&f->lock);
}

void seek_to_start(struct file *f) //~ clean
{
	seek(f, 0, QUIET);
	seek(f, 0, QUIET | KEEP_LOCKED);
	mutex_unlock(&f->lock);
}

void seek_further(struct file *f, int by)
{
	seek(f, by, KEEP_LOCKED | QUIET);
	f->position += by;
} //~ certain lock/held-on-exit

void seek_back(struct file *f)
{
	seek(f, 0, 0);
	mutex_unlock(&f->lock); //~ certain lock/double-unlock
}

/* A pointer that says where to tell it. */
struct queue { struct mutex lock; int length; };

static int length(struct queue *q, bool *locked) //~ clean
{
	int known;

	mutex_lock(&q->lock);
	known = q->length;
	if (locked)
		*locked = 1;
	else
		mutex_unlock(&q->lock);
	return known;
}

int length_alone(struct queue *q) //~ clean
{
	return length(q, NULL);
}

int length_and_more(struct queue *q) //~ clean
{
	bool locked = 0;
	int known = length(q, &locked);

	if (locked)
		mutex_unlock(&q->lock);
	return known;
}

int length_for_ever(struct queue *q)
{
	bool locked = 0;

	return length(q, &locked);
} //~ lock/held-on-exit @length_for_ever

/* An enumeration. */
enum after { GIVE_BACK, KEEP, KEEP_AND_COUNT };
struct table { struct mutex lock; int size; };

static void grow(struct table *t, enum after after) //~ clean
{
	mutex_lock(&t->lock);
	t->size *= 2;
	switch (after) {
	case KEEP_AND_COUNT:
		t->size++;
		break;
	case KEEP:
		break;
	case GIVE_BACK:
		mutex_unlock(&t->lock);
		break;
	}
}

void grow_once(struct table *t) //~ clean
{
	grow(t, GIVE_BACK);
	grow(t, KEEP);
	mutex_unlock(&t->lock);
}

void grow_and_count(struct table *t)
{
	grow(t, KEEP_AND_COUNT);
} //~ lock/held-on-exit @grow_and_count

/* Through a function that passes its own argument on. */
struct node { struct mutex lock; int value; };

static void set(struct node *n, int value, bool keep) //~ clean
{
	mutex_lock(&n->lock);
	n->value = value;
	if (!keep)
		mutex_unlock(&n->lock);
}

static void set_checked(struct node *n, int value, bool keep) //~ clean
{
	if (value < 0)
		value = 0;
	set(n, value, keep);
}

void reset(struct node *n) //~ clean
{
	set_checked(n, 0, 1);
	n->value++;
	mutex_unlock(&n->lock);
}

void reset_shortly(struct node *n) //~ clean
{
	set_checked(n, 0, 0);
}

void reset_for_ever(struct node *n)
{
	set_checked(n, 0, 1);
} //~ certain lock/held-on-exit

void reset_twice(struct node *n)
{
	set_checked(n, 0, 0);
	mutex_unlock(&n->lock); //~ lock/double-unlock
}

/* Where the function fails, as the caller says. */
struct device { struct mutex lock; int state; };
int start(struct device *d);

static int open_device(struct device *d, bool keep) //~ clean
{
	int rc;

	mutex_lock(&d->lock);
	rc = start(d);
	if (rc && !keep)
		mutex_unlock(&d->lock);
	return rc;
}

int use_device(struct device *d) //~ clean
{
	int rc = open_device(d, 0);

	if (rc)
		return rc;
	d->state++;
	mutex_unlock(&d->lock);
	return 0;
}

int try_device(struct device *d) //~ clean
{
	int rc = open_device(d, 1);

	d->state = rc;
	mutex_unlock(&d->lock);
	return rc;
}

int lose_device(struct device *d)
{
	int rc = open_device(d, 1);

	if (rc)
		return rc; //~ lock/held-on-exit
	mutex_unlock(&d->lock);
	return 0;
}

/* Nobody calls it: the argument is there for the release alone, or decides more. */
struct page { struct mutex lock; int count; };

int count_page(struct page *p, int keep)
{
	mutex_lock(&p->lock);
	p->count++;
	if (!keep)
		mutex_unlock(&p->lock);
	return 0; //~ note lock/inconsistent-exit
}

int count_some_pages(struct page *p, int by)
{
	if (by > 3)
		mutex_lock(&p->lock);
	p->count += by;
	if (by > 4)
		mutex_unlock(&p->lock);
	return 0; //~ certain lock/inconsistent-exit
}

int add_page(struct page *p, int by)
{
	mutex_lock(&p->lock);
	if (by < 0)
		return 0; //~ certain lock/inconsistent-exit
	p->count += by;
	mutex_unlock(&p->lock);
	return 0;
}

/* The caller holds it already: balanced. */
struct cache { struct mutex lock; int hits; };

void hit(struct cache *c, bool locked) //~ clean
{
	if (!locked)
		mutex_lock(&c->lock);
	c->hits++;
	if (!locked)
		mutex_unlock(&c->lock);
}

void hit_twice(struct cache *c) //~ clean
{
	hit(c, 0);
	mutex_lock(&c->lock);
	hit(c, 1);
	mutex_unlock(&c->lock);
}

void hit_again(struct cache *c)
{
	mutex_lock(&c->lock);
	hit(c, 0); //~ certain lock/double-lock
	mutex_unlock(&c->lock);
}

/* Only the half that takes it hangs on the argument. */
struct pool { struct mutex lock; int free; };

static void draw(struct pool *p, bool take) //~ clean
{
	if (take)
		mutex_lock(&p->lock);
	p->free--;
}

void draw_one(struct pool *p) //~ clean
{
	draw(p, 1);
	draw(p, 0);
	mutex_unlock(&p->lock);
}

void draw_for_ever(struct pool *p)
{
	draw(p, 1);
	draw(p, 0);
} //~ certain lock/held-on-exit

/* Two locks with one finding. */
struct link { struct mutex left, right; int used; };

void join(struct link *l, int count)
{
	mutex_lock(&l->left);
	mutex_lock(&l->right);
	if (count < 0)
		return; //~ certain lock/inconsistent-exit
	l->used += count;
	mutex_unlock(&l->right);
	mutex_unlock(&l->left);
}

void join_none(struct link *l) //~ clean
{
	join(l, -1);
}
