/* Drivers: unwinding, killable and interruptible locks, error pointers, lists, reader-writer locks, iterators. */
#include "kernel.h"
struct ring { spinlock_t lock; unsigned head, tail; int err; struct list_head node; struct mutex ctl; struct rw_semaphore sem; struct semaphore s; unsigned flags; rwlock_t rw; };
struct box { spinlock_t lock; struct list_head rings; struct ring *cur; struct ring slots[6]; };
int hw_ready(struct ring *r); int hw_push(struct ring *r, int v);

/* irqsave with goto */
int push_ok(struct ring *r, int v) //~ clean
{
	unsigned long f;
	int ret = 0;
	spin_lock_irqsave(&r->lock, f);
	if (!hw_ready(r)) {
		ret = -EAGAIN;
		goto unlock;
	}
	r->head++;
unlock:
	spin_unlock_irqrestore(&r->lock, f);
	return ret;
}
int push_bug(struct ring *r, int v)
{
	unsigned long f;
	int ret = 0;
	spin_lock_irqsave(&r->lock, f);
	if (!hw_ready(r)) {
		ret = -EAGAIN;
		goto out;
	}
	r->head++;
	spin_unlock_irqrestore(&r->lock, f);
out:
	return ret; //~ lock/held-on-exit
}
int intr_ok(struct ring *r) //~ clean
{
	if (mutex_lock_interruptible(&r->ctl))
		return -ERESTARTSYS;
	r->flags |= 1;
	mutex_unlock(&r->ctl);
	return 0;
}
int intr_bug(struct ring *r)
{
	int rc;
	mutex_lock(&r->ctl);
	r->flags = 0;
	mutex_unlock(&r->ctl);
	rc = mutex_lock_interruptible(&r->ctl);
	r->flags |= 1;
	mutex_unlock(&r->ctl); //~ lock/double-unlock
	return rc;
}
int intr_bug2(struct ring *r)
{
	int rc = mutex_lock_killable(&r->ctl);
	if (rc == 0)
		return -EINTR; //~ lock/inconsistent-exit
	r->flags |= 1;
	return rc;
}
int down_ok(struct ring *r) //~ clean
{
	if (down_interruptible(&r->s))
		return -EINTR;
	r->flags++;
	up(&r->s);
	return 0;
}
int dw_ok(struct ring *r) //~ clean
{
	int e = down_write_killable(&r->sem);
	if (e < 0)
		return e;
	r->flags++;
	downgrade_write(&r->sem);
	r->err = hw_ready(r);
	up_read(&r->sem);
	return 0;
}
int dw_bug(struct ring *r)
{
	int e = down_write_killable(&r->sem);
	if (e < 0)
		return e;
	r->flags++;
	if (r->flags > 4) {
		up_write(&r->sem);
		e = -EBUSY;
	}
	up_write(&r->sem); //~ lock/double-unlock
	return e;
}
/* IS_ERR results */
static struct ring *ring_get(struct box *b, int i) //~ clean
{
	struct ring *r;
	if (i < 0 || i >= 6)
		return ERR_PTR(-EINVAL);
	r = &b->slots[i];
	spin_lock(&r->lock);
	if (r->err) {
		int e = r->err;
		spin_unlock(&r->lock);
		return ERR_PTR(-EBUSY);
	}
	return r;
}
static void ring_put(struct ring *r) //~ clean
{
	if (!IS_ERR_OR_NULL(r))
		spin_unlock(&r->lock);
}
int rg_ok(struct box *b, int i) //~ clean
{
	struct ring *r = ring_get(b, i);
	if (IS_ERR(r))
		return PTR_ERR(r);
	r->head = 0;
	ring_put(r);
	return 0;
}
int rg_ok2(struct box *b, int i) //~ clean
{
	struct ring *r = ring_get(b, i);
	int rc = IS_ERR(r) ? PTR_ERR(r) : 0;
	if (!rc)
		r->head = 1;
	ring_put(r);
	return rc;
}
int rg_bug(struct box *b, int i)
{
	struct ring *r = ring_get(b, i);
	if (IS_ERR(r))
		return PTR_ERR(r);
	r->head = 0;
	if (!hw_ready(r))
		return 0; //~ lock/inconsistent-exit
	ring_put(r);
	return 0;
}
int rg_bug2(struct box *b, int i)
{
	struct ring *r = ring_get(b, i);
	if (IS_ERR(r))
		return PTR_ERR(r);
	r->head = 0;
	ring_put(r);
	if (hw_ready(r))
		ring_put(r); //~ lock/double-unlock
	return 0;
}
int rg_bug3(struct box *b, int i)
{
	struct ring *r = ring_get(b, i), *q;
	if (IS_ERR(r))
		return PTR_ERR(r);
	q = ring_get(b, i); //~ lock/double-lock
	if (IS_ERR(q))
		goto out;
	ring_put(q);
out:
	ring_put(r);
	return 0;
}
/* list + container_of */
void lst_ok(struct box *b) //~ clean
{
	struct ring *r;
	spin_lock(&b->lock);
	list_for_each_entry(r, &b->rings, node) {
		spin_lock(&r->lock);
		r->head = r->tail;
		spin_unlock(&r->lock);
	}
	spin_unlock(&b->lock);
}
void lst_bug(struct box *b)
{
	struct ring *r;
	spin_lock(&b->lock);
	list_for_each_entry(r, &b->rings, node) {
		spin_lock(&r->lock);
		if (r->err) {
			spin_unlock(&r->lock);
			spin_unlock(&b->lock);
			break;
		}
		spin_unlock(&r->lock);
	}
	spin_unlock(&b->lock); //~ lock/double-unlock
}
struct ring *find_ok(struct box *b, unsigned fl) //~ clean
{
	struct ring *r;
	spin_lock(&b->lock);
	list_for_each_entry(r, &b->rings, node) {
		if (r->flags == fl) {
			spin_unlock(&b->lock);
			return r;
		}
	}
	spin_unlock(&b->lock);
	return NULL;
}
struct ring *find_bug(struct box *b, unsigned fl)
{
	struct ring *r;
	spin_lock(&b->lock);
	list_for_each_entry(r, &b->rings, node) {
		if (r->flags == fl)
			return r; //~ lock/held-on-exit
	}
	spin_unlock(&b->lock);
	return NULL;
}
/* read/write */
int rw_ok(struct ring *r) //~ clean
{
	int v;
	read_lock(&r->rw);
	v = r->err;
	read_unlock(&r->rw);
	if (v) {
		write_lock(&r->rw);
		r->err = 0;
		write_unlock(&r->rw);
	}
	return v;
}
int rw_bug(struct ring *r)
{
	read_lock(&r->rw);
	if (r->err) {
		write_lock(&r->rw); //~ lock/double-lock
		r->err = 0;
		write_unlock(&r->rw);
	}
	read_unlock(&r->rw);
	return 0;
}
int rw_bug2(struct ring *r)
{
	read_lock(&r->rw);
	r->err++;
	write_unlock(&r->rw); //~ lock/double-unlock
	return 0;
}
/* trylock kernel */
bool trk_ok(struct ring *r) //~ clean
{
	if (!spin_trylock(&r->lock))
		return false;
	r->head++;
	spin_unlock(&r->lock);
	return true;
}
bool trk_bug(struct ring *r)
{
	if (!spin_trylock(&r->lock)) {
		r->err++;
		spin_unlock(&r->lock); //~ lock/double-unlock
		return false;
	}
	spin_unlock(&r->lock);
	return true;
}
int dt_ok(struct ring *r) //~ clean
{
	if (down_trylock(&r->s))
		return -EBUSY;
	r->head++;
	up(&r->s);
	return 0;
}
int dt_leak(struct ring *r)
{
	if (down_trylock(&r->s))
		return -EBUSY;
	if (r->err)
		return -EBUSY; //~ lock/inconsistent-exit
	up(&r->s);
	return 0;
}
/* wrapper with state in struct */
struct iter { struct ring *r; bool locked; unsigned long fl; };
static void it_begin(struct iter *it, struct ring *r, bool lock) //~ clean
{
	it->r = r;
	it->locked = lock;
	if (lock)
		spin_lock_irqsave(&r->lock, it->fl);
}
static void it_end(struct iter *it) //~ clean
{
	if (it->locked)
		spin_unlock_irqrestore(&it->r->lock, it->fl);
}
void it_ok(struct ring *r, bool l) //~ clean
{
	struct iter it;
	it_begin(&it, r, l);
	r->head++;
	it_end(&it);
}
void it_bug(struct ring *r)
{
	struct iter it;
	it_begin(&it, r, true);
	r->head++;
	spin_lock(&r->lock); //~ lock/double-lock
	spin_unlock(&r->lock);
	it_end(&it);
}
void it_bug2(struct ring *r)
{
	struct iter it;
	it_begin(&it, r, true);
	r->head++;
	it_end(&it);
	it_end(&it); //~ lock/double-unlock
}
int it_bug3(struct ring *r, bool l)
{
	struct iter it;
	it_begin(&it, r, l);
	if (hw_ready(r))
		return 0; //~ lock/inconsistent-exit //~ lock/irq-flags
	it_end(&it);
	return 0;
}
