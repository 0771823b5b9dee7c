/* What the source says of who holds a lock, where the compiler sees none of it. */
#define __releases(x)
#define __acquires(x)
#define __must_hold(x)
#define lockdep_assert_held(l) do { (void)(l); } while (0)
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct device { struct mutex lock; int users; };
struct holder { struct mutex lock; int users; };
struct buffer { struct mutex lock; int size; };
struct session { struct mutex lock; int open; };

void thaw(struct device *d) //~ clean
	__releases(&d->lock)
{
	d->users--;
	mutex_unlock(&d->lock);
}

void thaw_plain(struct session *s)
{
	s->open--;
	mutex_unlock(&s->lock); //~ certain lock/unlock-unheld
}

void sync_holder(struct holder *h) //~ clean
{
	lockdep_assert_held(&h->lock);
	h->users = 0;
	mutex_unlock(&h->lock);
}

/* Another lock than the one that is stated. */
void shrink(struct buffer *b, struct holder *h)
	__must_hold(&h->users)
{
	b->size = h->users;
	mutex_unlock(&b->lock); //~ certain lock/unlock-unheld
}

/* Who asks whether it is held does not say so. */
#define WARN_ON(condition) ((condition) ? warn() : 0)
int mutex_is_locked(struct mutex *lock);
int warn(void);
struct channel { struct mutex lock; int users; };
struct pipe { struct mutex lock; int users; };

void leave_channel(struct channel *c) //~ clean
{
	WARN_ON(!mutex_is_locked(&c->lock));
	c->users--;
	mutex_unlock(&c->lock);
}

void leave_pipe(struct pipe *p)
{
	if (mutex_is_locked(&p->lock))
		p->users--;
	mutex_unlock(&p->lock); //~ known-miss lock/unlock-unheld
}
