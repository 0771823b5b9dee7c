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

/* How the lock comes out of a callee, it cannot say in few conditions; its callers have nothing to say at all,
 * and what theirs make of it is no finding. */
struct votes {
	int a, b, c, d, e, f;
};
struct semaphore { int count; };
void down(struct semaphore *sem);
void up(struct semaphore *sem);
struct room {
	struct semaphore lock;
	int guests;
};

static int odd(struct votes *v)
{
	return (v->a & 1) ^ (v->b & 1) ^ (v->c & 1) ^ (v->d & 1) ^ (v->e & 1) ^ (v->f & 1);
}

static void close_if_odd(struct room *room, struct votes *v) //~ clean
{
	if (odd(v)) {
		room->guests = 0;
		up(&room->lock);
	}
}

static void vote(struct room *room, struct votes *v) //~ clean
{
	close_if_odd(room, v);
}

void meet(struct room *room, struct votes *v) //~ clean
{
	down(&room->lock);
	vote(room, v);
	if (odd(v))
		return;
	up(&room->lock);
}

void meet_badly(struct room *room, struct votes *v)
{
	down(&room->lock);
	if (!room->guests)
		return; //~ lock/inconsistent-exit
	up(&room->lock);
}
