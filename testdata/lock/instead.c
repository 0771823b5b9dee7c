/* A lock that is handed over in place of another, and locks that functions of other files took. */
typedef struct spinlock { int slock; } spinlock_t;
struct rw_semaphore { int count; };
struct semaphore { int count; };
void _raw_spin_lock(spinlock_t *lock);
void _raw_spin_unlock(spinlock_t *lock);
void down_write(struct rw_semaphore *sem);
void up_write(struct rw_semaphore *sem);
void down(struct semaphore *sem);
void up(struct semaphore *sem);
int work(int);

struct source { int value; };
struct multicast { spinlock_t lock; struct multicast *next; struct source *sources; };
struct cursor { struct multicast *im; int index; };

/* Keeps the lock of the list that it found something in, whichever that is. */
struct source *first_source(struct cursor *c, struct multicast *list) //~ clean
{
	struct source *found = 0;

	for (; list; list = list->next) {
		_raw_spin_lock(&list->lock);
		found = list->sources;
		if (found) {
			c->im = list;
			break;
		}
		_raw_spin_unlock(&list->lock);
	}
	return found;
}

/* The other half. */
void last_source(struct cursor *c) //~ clean
{
	if (c->im)
		_raw_spin_unlock(&c->im->lock);
}

/* Keeps it where it found nothing, too. */
int count_sources(struct multicast *list)
{
	int n = 0;

	for (; list; list = list->next) {
		_raw_spin_lock(&list->lock);
		n++;
		if (!list->sources && work(n))
			return n; //~ lock/inconsistent-exit
		_raw_spin_unlock(&list->lock);
	}
	return n;
}

struct inode { struct rw_semaphore rwsem; };
struct dentry { struct inode *inode; int dead; };
struct path { struct dentry *dentry; };
struct dentry *lookup(struct path *);

/* Goes on with what is mounted there, until nothing is. */
struct dentry *lock_top(struct path *path) //~ clean
{
	struct dentry *dentry = path->dentry;
	struct dentry *mounted;

retry:
	down_write(&dentry->inode->rwsem);
	if (dentry->dead) {
		up_write(&dentry->inode->rwsem);
		return 0;
	}
	mounted = lookup(path);
	if (!mounted)
		return dentry;
	up_write(&dentry->inode->rwsem);
	dentry = path->dentry = mounted;
	goto retry;
}

struct super { struct rw_semaphore umount; };
struct context { struct super *super; };
int get_tree(struct context *);

/* What get_tree() put there comes back locked. */
int mount(struct context *c) //~ clean
{
	int error = get_tree(c);

	if (!error)
		up_write(&c->super->umount);
	return error;
}

struct sock { spinlock_t slock; int owned; };
_Bool lock_fast(struct sock *);
void release_slow(struct sock *);

/* The result of lock_fast() says whether it left the spin lock held. */
void destroy(struct sock *sk) //~ clean
{
	_Bool slow = lock_fast(sk);

	sk->owned = 0;
	if (slow)
		release_slow(sk);
	else
		_raw_spin_unlock(&sk->slock);
}

struct device { struct semaphore credits; int latch; int in_flight; };

static void set_latch(struct device *d, int latch) //~ clean
{
	while (d->latch > latch) {
		down(&d->credits);
		d->latch--;
	}
	while (d->latch < latch) {
		up(&d->credits);
		d->latch++;
	}
}

/* Takes a credit, which the request gives back when it is done. */
void submit(struct device *d, int latch) //~ clean
{
	if (latch != d->latch)
		set_latch(d, latch);
	down(&d->credits);
	d->in_flight++;
}

/* An object that points back to what the caller has at hand: the same lock under another name, which the
 * callee insists on being held. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
_Bool mutex_is_locked(struct mutex *lock);
struct object { int handles; struct table *owner; };
struct table { struct mutex names; struct object *first; };
int hash(struct object *o);

static int add_handle(struct object *o) //~ clean
{
	struct table *owner = o->owner;
	int id;

	if (!mutex_is_locked(&owner->names))
		__builtin_trap();
	o->handles++;
	id = hash(o);
	mutex_unlock(&owner->names);
	return id < 0 ? id : 0;
}

int open_by_name(struct table *t) //~ clean
{
	struct object *o;
	int ret;

	mutex_lock(&t->names);
	o = t->first;
	if (!o) {
		mutex_unlock(&t->names);
		return -2;
	}
	ret = add_handle(o);
	if (ret)
		return ret;
	return 0;
}

int open_by_name_badly(struct table *t)
{
	struct object *o;
	int ret;

	mutex_lock(&t->names);
	o = t->first;
	if (!o)
		return -2; //~ lock/held-on-exit
	ret = add_handle(o);
	if (ret)
		return ret;
	return 0;
}
