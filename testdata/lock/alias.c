/* One lock under several names (Saturn §7). */
#define offsetof(type, member) __builtin_offsetof(type, member)
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))
typedef unsigned long size_t;
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
void *memcpy(void *dst, const void *src, size_t n);

struct list { struct list *next, *prev; };
struct inner { int id; spinlock_t lock; };
struct device {
	int id;
	struct list list;
	struct inner inner;
	spinlock_t lock;
	spinlock_t *shared;
	struct device *parent;
};

void member_alias(struct device *p)
{
	spinlock_t *l = &p->lock;

	spin_lock(&p->lock);
	spin_lock(l); //~ lock/double-lock
	spin_unlock(l);
}

void member_alias_repaired(struct device *p) //~ clean
{
	spinlock_t *l = &p->lock;

	spin_lock(&p->lock);
	p->id++;
	spin_unlock(l);
}

void through_container_of(struct list *node)
{
	struct device *dev = container_of(node, struct device, list);
	struct inner *inner = &dev->inner;

	spin_lock(&dev->inner.lock);
	dev->id = 0;
	spin_lock(&container_of(&inner->id, struct inner, id)->lock); //~ lock/double-lock
	spin_unlock(&inner->lock);
}

void through_container_of_repaired(struct list *node) //~ clean
{
	struct device *dev = container_of(node, struct device, list);
	struct inner *inner = &dev->inner;

	spin_lock(&dev->inner.lock);
	spin_lock(&dev->lock);
	dev->id = 0;
	spin_unlock(&container_of(inner, struct device, inner)->lock);
	spin_unlock(&inner->lock);
}

static void unlock_node(struct list *node) //~ clean
{
	spin_unlock(&container_of(node, struct device, list)->lock);
}

/* The callee finds the device again from its list node. */
void callee_uses_container_of(struct device *dev) //~ clean
{
	spin_lock(&dev->lock);
	dev->id++;
	unlock_node(&dev->list);
}

void callee_has_unlocked(struct device *dev)
{
	spin_lock(&dev->lock);
	unlock_node(&dev->list);
	spin_unlock(&dev->lock); //~ lock/double-unlock
}

/* A pointer to the lock, read twice. */
void shared_lock(struct device *dev) //~ clean
{
	spinlock_t *l = dev->shared;

	spin_lock(l);
	dev->id++;
	spin_unlock(dev->shared);
}

void shared_lock_twice(struct device *dev)
{
	spin_lock(dev->shared);
	dev->id++;
	spin_lock(dev->shared); //~ lock/double-lock
	spin_unlock(dev->shared);
}

/* The pointer was changed in between: another lock. */
void moved_on(struct device *dev) //~ clean
{
	struct device *next = dev->parent;

	spin_lock(&dev->lock);
	spin_lock(&next->lock);
	spin_unlock(&dev->lock);
	dev = next;
	dev->id++;
	spin_unlock(&dev->lock);
}

void parents(struct device *dev)
{
	spin_lock(&dev->parent->lock);
	dev->parent->id = dev->id;
	spin_unlock(&dev->parent->lock);
	spin_unlock(&dev->parent->lock); //~ lock/double-unlock
}

/* The parent's lock is not the child's. */
void parents_repaired(struct device *dev) //~ clean
{
	spin_lock(&dev->parent->lock);
	spin_lock(&dev->lock);
	dev->parent->id = dev->id;
	spin_unlock(&dev->lock);
	spin_unlock(&dev->parent->lock);
}

/* Two names of one object in a local record. */
struct context { struct device *dev; spinlock_t *held; };

void context_struct(struct device *dev) //~ clean
{
	struct context a = { .dev = dev, .held = &dev->lock };
	struct context b;

	spin_lock(a.held);
	b = a;
	b.dev->id++;
	spin_unlock(b.held);
}

void context_copied(struct device *dev)
{
	struct context a = { .dev = dev, .held = &dev->lock };
	struct context b;

	memcpy(&b, &a, sizeof(b));
	spin_lock(a.held);
	spin_lock(b.held); //~ lock/double-lock
	spin_unlock(&dev->lock);
}

/* Which lock is held hangs on a condition. */
void either(struct device *a, struct device *b, int first) //~ clean
{
	spinlock_t *l;

	if (first)
		l = &a->lock;
	else
		l = &b->lock;
	spin_lock(l);
	if (first)
		spin_unlock(&a->lock);
	else
		spin_unlock(&b->lock);
}

void cast_to_first_member(struct inner *inner) //~ clean
{
	char *bytes = (char *)inner;

	spin_lock((spinlock_t *)(bytes + sizeof(int)));
	inner->id = 0;
	spin_unlock(&inner->lock);
}
