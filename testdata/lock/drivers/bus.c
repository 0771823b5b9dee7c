/* Drivers: guards of newer kernels, work items, lookups that lock, ladders of labels. */
#include "kernel.h"
struct work { void (*fn)(struct work *); long d; };
struct dev { int id; struct mutex mx; spinlock_t sl; struct work w; unsigned busy:1, dead:1; struct dev *parent; struct list_head kids, sib; int users; void *priv; spinlock_t *extern_lock; };
struct bus { struct mutex lock; struct list_head devs; struct dev *tab[16]; int n; };
int start_io(struct dev *d); int attach(struct dev *d); void put_dev(struct dev *d); struct dev *make_dev(int id);
/* guards of newer kernels */
#define __cleanup(f) __attribute__((__cleanup__(f)))
#define DEFINE_CLASS(_name, _type, _exit, _init, _init_args...) \
typedef _type class_##_name##_t; \
static inline void class_##_name##_destructor(_type *p) { _type _T = *p; _exit; } \
static inline _type class_##_name##_constructor(_init_args) { _type t = _init; return t; }
#define CLASS(_name, var) class_##_name##_t var __cleanup(class_##_name##_destructor) = class_##_name##_constructor
#define DEFINE_GUARD(_name, _type, _lock, _unlock) DEFINE_CLASS(_name, _type, if (_T) { _unlock; }, ({ _lock; _T; }), _type _T)
DEFINE_GUARD(mutex, struct mutex *, mutex_lock(_T), mutex_unlock(_T))
#define guard(_name) CLASS(_name, guard_)
#define scoped_guard(_name, args...) for (CLASS(_name, scope)(args), *done = NULL; !done; done = (void *)1)
typedef struct { spinlock_t *lock; unsigned long flags; } class_irqsave_t;
static inline void class_irqsave_destructor(class_irqsave_t *_T) { if (_T->lock) { spin_unlock_irqrestore(_T->lock, _T->flags); } } //~ clean
static inline class_irqsave_t class_irqsave_constructor(spinlock_t *l) { class_irqsave_t _t = { .lock = l }, *_T = &_t; spin_lock_irqsave(_T->lock, _T->flags); return _t; } //~ clean

int g_ok(struct dev *d) //~ clean
{
	guard(mutex)(&d->mx);
	if (d->dead)
		return -ENODEV;
	d->users++;
	return start_io(d);
}
int g_bug(struct dev *d)
{
	guard(mutex)(&d->mx);
	if (d->dead) {
		mutex_lock(&d->mx); //~ lock/double-lock
		d->users = 0;
		mutex_unlock(&d->mx);
	}
	return 0;
}
int sg_ok(struct dev *d) //~ clean
{
	scoped_guard(mutex, &d->mx) {
		if (d->dead)
			return -ENODEV;
		d->users++;
	}
	mutex_lock(&d->mx);
	d->id = 0;
	mutex_unlock(&d->mx);
	return 0;
}
int irqg_ok(struct dev *d) //~ clean
{
	guard(irqsave)(&d->sl);
	d->users++;
	return d->users > 3 ? -EBUSY : 0;
}
int irqg_bug(struct dev *d)
{
	guard(irqsave)(&d->sl);
	d->users++;
	spin_lock(&d->sl); //~ lock/double-lock
	spin_unlock(&d->sl);
	return 0;
}
/* work_struct */
static void dev_work(struct work *w) //~ clean
{
	struct dev *d = container_of(w, struct dev, w);
	mutex_lock(&d->mx);
	if (d->busy) {
		mutex_unlock(&d->mx);
		return;
	}
	d->busy = 1;
	if (start_io(d) < 0)
		goto out;
	d->users++;
out:
	d->busy = 0;
	mutex_unlock(&container_of(w, struct dev, w)->mx);
}
static void dev_work_bug(struct work *w)
{
	struct dev *d = container_of(w, struct dev, w);
	mutex_lock(&d->mx);
	if (d->busy)
		return; //~ lock/inconsistent-exit
	d->busy = 1;
	mutex_unlock(&d->mx);
}
void init_dev(struct dev *d) { d->w.fn = dev_work; d->w.fn = dev_work_bug; } //~ clean
/* lookup that returns locked object or ERR_PTR, by out param */
static int dev_find(struct bus *b, int id, struct dev **out) //~ clean
{
	int i;
	mutex_lock(&b->lock);
	for (i = 0; i < b->n; i++) {
		struct dev *d = b->tab[i];
		if (d && d->id == id) {
			mutex_lock(&d->mx);
			mutex_unlock(&b->lock);
			*out = d;
			return 0;
		}
	}
	mutex_unlock(&b->lock);
	*out = NULL;
	return -ENODEV;
}
int df_ok(struct bus *b, int id) //~ clean
{
	struct dev *d;
	int e = dev_find(b, id, &d);
	if (e)
		return e;
	d->users++;
	mutex_unlock(&d->mx);
	return 0;
}
int df_bug(struct bus *b, int id)
{
	struct dev *d;
	int e = dev_find(b, id, &d);
	if (e)
		return e;
	if (d->dead)
		return -ENODEV; //~ lock/inconsistent-exit
	mutex_unlock(&d->mx);
	return -ENODEV;
}
int df_bug2(struct bus *b, int id)
{
	struct dev *d;
	int e = dev_find(b, id, &d);
	if (e)
		return e;
	mutex_lock(&d->mx); //~ lock/double-lock
	d->users++;
	mutex_unlock(&d->mx);
	return 0;
}
int df_bug3(struct bus *b, int id)
{
	struct dev *d;
	int e;
	mutex_lock(&b->lock);
	e = dev_find(b, id, &d); //~ lock/double-lock
	mutex_unlock(&b->lock);
	if (!e)
		mutex_unlock(&d->mx);
	return e;
}
/* ptl style */
#define map_lock(d, lp) ({ spinlock_t *__l = (d)->extern_lock; void *__p = (d)->priv; *(lp) = __l; spin_lock(__l); __p; })
#define unmap_unlock(p, l) do { spin_unlock(l); (void)(p); } while (0)
int ptl_ok(struct dev *d) //~ clean
{
	spinlock_t *l;
	int *p = map_lock(d, &l);
	if (!*p)
		goto out;
	*p = 5;
out:
	unmap_unlock(p, l);
	return 0;
}
int ptl_bug(struct dev *d)
{
	spinlock_t *l;
	int *p = map_lock(d, &l);
	if (!*p)
		return 0; //~ lock/held-on-exit
	*p = 5;
	unmap_unlock(p, l);
	return 0;
}
/* bit-field conditions */
void bf_ok(struct dev *d, int x) //~ clean
{
	if (d->busy)
		spin_lock(&d->sl);
	d->id = x;
	if (d->busy)
		spin_unlock(&d->sl);
}
int bf_bug(struct dev *d, int x)
{
	if (d->busy)
		spin_lock(&d->sl);
	d->id = x;
	if (d->dead)
		return 1; //~ lock/inconsistent-exit
	if (d->busy)
		spin_unlock(&d->sl);
	return 1;
}
/* parent/child with NULL parent */
void par_ok(struct dev *d) //~ clean
{
	if (d->parent)
		mutex_lock(&d->parent->mx);
	mutex_lock(&d->mx);
	d->users++;
	mutex_unlock(&d->mx);
	if (d->parent)
		mutex_unlock(&d->parent->mx);
}
int par_bug(struct dev *d)
{
	if (d->parent)
		mutex_lock(&d->parent->mx);
	mutex_lock(&d->mx);
	if (attach(d) < 0) {
		mutex_unlock(&d->mx);
		return -EBUSY; //~ lock/inconsistent-exit
	}
	mutex_unlock(&d->mx);
	if (d->parent)
		mutex_unlock(&d->parent->mx);
	return -EBUSY;
}
/* void * cookie */
int open_cookie(void **cookie, struct bus *b, int id) //~ clean
{
	struct dev *d = b->tab[id & 15];
	if (!d)
		return -ENODEV;
	spin_lock(&d->sl);
	*cookie = d;
	return 0;
}
void close_cookie(void *cookie) //~ clean
{
	struct dev *d = cookie;
	spin_unlock(&d->sl);
}
int ck_ok(struct bus *b) //~ clean
{
	void *c;
	if (open_cookie(&c, b, 3))
		return -1;
	close_cookie(c);
	return 0;
}
int ck_bug(struct bus *b)
{
	void *c;
	if (open_cookie(&c, b, 3))
		return -1;
	close_cookie(c);
	close_cookie(c); //~ lock/double-unlock
	return 0;
}
/* recursion with nesting flag */
static int walk(struct dev *d, int locked) //~ clean
{
	int r = 0;
	if (!locked)
		mutex_lock(&d->mx);
	if (d->parent && d->users > 0) {
		d->users--;
		r = walk(d, 1);
	}
	if (!locked)
		mutex_unlock(&d->mx);
	return r + 1;
}
int walk_ok(struct dev *d) { return walk(d, 0); } //~ clean
static int walkb(struct dev *d, int locked)
{
	int r = 0;
	if (!locked)
		mutex_lock(&d->mx);
	if (d->users > 0) {
		d->users--;
		r = walkb(d, 0); //~ lock/double-lock
	}
	if (!locked)
		mutex_unlock(&d->mx);
	return r + 1;
}
int walkb_call(struct dev *d) { return walkb(d, 0); } //~ clean
/* long unwinding ladder */
int ladder_ok(struct dev *a, struct dev *b, struct dev *c) //~ clean
{
	int e;
	mutex_lock(&a->mx);
	e = attach(a);
	if (e)
		goto err_a;
	mutex_lock(&b->mx);
	e = attach(b);
	if (e)
		goto err_b;
	mutex_lock(&c->mx);
	e = attach(c);
	if (e)
		goto err_c;
	mutex_unlock(&c->mx);
	mutex_unlock(&b->mx);
	mutex_unlock(&a->mx);
	return 0;
err_c:
	mutex_unlock(&c->mx);
err_b:
	mutex_unlock(&b->mx);
err_a:
	mutex_unlock(&a->mx);
	return e;
}
int ladder_bug(struct dev *a, struct dev *b, struct dev *c)
{
	int e;
	mutex_lock(&a->mx);
	e = attach(a);
	if (e)
		goto err_b;
	mutex_lock(&b->mx);
	e = attach(b);
	if (e)
		goto err_b;
	mutex_lock(&c->mx);
	e = attach(c);
	if (e)
		goto err_c;
	mutex_unlock(&c->mx);
	mutex_unlock(&b->mx);
	mutex_unlock(&a->mx);
	return 0;
err_c:
	mutex_unlock(&c->mx);
err_b:
	mutex_unlock(&b->mx); //~ lock/unlock-unheld
	mutex_unlock(&a->mx);
	return e;
}
/* interruptible in a retry loop */
int retry_i_ok(struct dev *d) //~ clean
{
	for (;;) {
		if (mutex_lock_interruptible(&d->mx))
			return -ERESTARTSYS;
		if (!d->busy)
			break;
		mutex_unlock(&d->mx);
		schedule();
	}
	d->busy = 1;
	mutex_unlock(&d->mx);
	return 0;
}
int retry_i_bug(struct dev *d)
{
	for (;;) {
		if (mutex_lock_interruptible(&d->mx))
			return -ERESTARTSYS;
		if (!d->busy)
			break;
		schedule();
		mutex_unlock(&d->mx);
		if (d->dead)
			goto out;
	}
	d->busy = 1;
out:
	mutex_unlock(&d->mx); //~ lock/double-unlock
	return 0;
}
