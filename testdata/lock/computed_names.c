/* Objects that several pointers may lead to, or that are computed, have the names that the source has for them. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
int busy(void);

struct root { int count; struct mutex lock; };
struct node {
	struct node *parent;
	int mode;
	union {
		struct { int children; struct root *root; } dir;
		long value;
	};
};

static struct root *root_of(struct node *node)
{
	if (node->parent)
		node = node->parent;
	return node->dir.root;
}

int set_badly(struct node *node, int mode)
{
	struct root *root = root_of(node);

	mutex_lock(&root->lock);
	node->mode = mode;
	mutex_lock(&root->lock); //~ certain lock/double-lock
	mutex_unlock(&root->lock);
	return 0;
}

int set(struct node *node, int mode) //~ clean
{
	struct root *root = root_of(node);

	mutex_lock(&root->lock);
	node->mode = mode;
	mutex_unlock(&root->lock);
	return 0;
}

struct slot { int used; struct mutex lock; };
struct table { unsigned mask; struct slot *slots; };
struct net { struct table *own; };
extern struct table shared;

static struct slot *slot_of(struct table *table, unsigned number)
{
	return &table->slots[number & table->mask];
}

static struct table *table_of(struct net *net)
{
	return net->own ? net->own : &shared;
}

void put_badly(struct net *net, unsigned number)
{
	struct slot *slot = slot_of(table_of(net), number);

	mutex_lock(&slot->lock);
	slot->used++;
	mutex_unlock(&slot->lock);
	mutex_unlock(&slot->lock); //~ certain lock/double-unlock
}

void put(struct net *net, unsigned number) //~ clean
{
	struct slot *slot = slot_of(table_of(net), number);

	mutex_lock(&slot->lock);
	slot->used++;
	mutex_unlock(&slot->lock);
}

/* `unlocked` says that the lock is not held on entry, not that the function gives it back. */
struct clock { int pins; struct mutex pins_lock; };

int find_pin_unlocked(struct clock *clock, int pin)
{
	int found = busy();

	clock->pins = pin;
	mutex_unlock(&clock->pins_lock); //~ certain lock/unlock-unheld
	return found;
}

struct timer { int pins; struct mutex pins_lock; };

int find_timer_unlocked(struct timer *timer, int pin) //~ clean
{
	int found;

	mutex_lock(&timer->pins_lock);
	found = busy();
	timer->pins = pin;
	mutex_unlock(&timer->pins_lock);
	return found;
}
