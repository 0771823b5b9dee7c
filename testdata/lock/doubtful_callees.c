/* What callees do under conditions that only they know. */

typedef struct { int counter; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

struct gate {
	spinlock_t lock;
	int owner, open;
};
int self(void);

/* Refuses what is not its own; who has taken it is its own. */
int give_back(struct gate *gate)
{
	if (gate->owner != self())
		return -1;
	gate->owner = 0;
	spin_unlock(&gate->lock);
	return 0;
}

void take(struct gate *gate)
{
	spin_lock(&gate->lock);
	gate->owner = self();
}

int count(struct gate *gate) //~ clean
{
	int open;

	take(gate);
	open = gate->open;
	give_back(gate);
	return open;
}

int count_early(struct gate *gate)
{
	int open;

	take(gate);
	open = gate->open;
	if (open > 7)
		return open; //~ lock/inconsistent-exit
	give_back(gate);
	return open;
}

/* On one path it takes the lock: nobody calls it with the lock held, whatever becomes of it on the other. */
int walk(struct gate *gate) //~ clean
{
	int seq = 0, again;

	do {
		if (seq & 1)
			spin_lock(&gate->lock);
		again = !(seq & 1) && gate->open;
		if (again)
			seq = 1;
	} while (again);
	if (seq & 1)
		spin_unlock(&gate->lock);
	return self();
}

int walk_unless(struct gate *gate, int quick) //~ clean
{
	if (quick)
		return self();
	return walk(gate);
}

/* What it leaves in the iterator tells whether the lock is held. */
struct iterator {
	struct gate *gate;
	int locked, position;
};
int interrupted(void);

void *start(struct iterator *it) //~ clean
{
	if (interrupted()) {
		it->locked = 0;
		return 0;
	}
	spin_lock(&it->gate->lock);
	it->locked = 1;
	return 0;
}

void stop(struct iterator *it) //~ clean
{
	if (it->locked)
		spin_unlock(&it->gate->lock);
}

/* A method that tears the gate down gives the lock back, or frees it with the gate. */
struct methods {
	void (*destroy)(struct gate *gate);
};
int last_user(void);

void put_locked(struct gate *gate, struct methods *methods) //~ clean
{
	if (last_user()) {
		methods->destroy(gate);
		return;
	}
	spin_unlock(&gate->lock);
}

void put_locked_but_forget(struct gate *gate, struct methods *methods)
{
	if (last_user())
		return; //~ lock/inconsistent-exit
	gate->owner = 0;
	spin_unlock(&gate->lock);
}

/* Which kind of device it is, whoever made the device knows: links are not purged of their own links. */
struct class {
	int id;
};
struct device {
	struct class *class;
	int links;
};
struct class link_class;
spinlock_t links_lock;

void purge(struct device *device) //~ clean
{
	if (device->class == &link_class)
		return;
	spin_lock(&links_lock);
	device->links = 0;
	spin_unlock(&links_lock);
}

void drop(struct device *link) //~ clean
{
	spin_lock(&links_lock);
	purge(link);
	spin_unlock(&links_lock);
}

void purge_unless_empty(struct device *device) //~ clean
{
	if (!device->links)
		return;
	spin_lock(&links_lock);
	device->links = 0;
	spin_unlock(&links_lock);
}

void drop_unless_empty(struct device *link)
{
	spin_lock(&links_lock);
	purge_unless_empty(link); //~ lock/double-lock
	spin_unlock(&links_lock);
}
