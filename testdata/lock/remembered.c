/* A function may leave word in memory, or in a bit of its result, of which way it went. */

struct mutex { int state; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);

struct task { int users; };
struct space { struct mutex lock; int size; };
struct walk { struct task *task; struct space *space; };
struct task *get_task(int id);
void *first(struct space *space, int at);

#define RETRY 0x400
#define WRITTEN 0x8
unsigned read_page(struct space *space);

/* No task: nothing is locked. */
void *walk_start(struct walk *walk, int id) //~ clean
{
	walk->task = get_task(id);
	if (!walk->task)
		return 0;
	if (!walk->space) {
		walk->task = 0;
		return 0;
	}
	mutex_lock(&walk->space->lock);
	return first(walk->space, id);
}

void walk_stop(struct walk *walk) //~ clean
{
	if (!walk->task)
		return;
	mutex_unlock(&walk->space->lock);
	walk->task = 0;
}

int walk_all(struct walk *walk, int id) //~ clean
{
	int found = walk_start(walk, id) != 0;

	walk_stop(walk);
	return found;
}

void *walk_start_badly(struct walk *walk, int id)
{
	walk->task = get_task(id);
	if (!walk->task)
		return 0;
	mutex_lock(&walk->space->lock);
	if (!walk->space->size)
		return 0; //~ lock/inconsistent-exit
	mutex_unlock(&walk->space->lock);
	return 0;
}

/* The bit tells that the lock was given up. */
static unsigned fault(struct space *space, int wait) //~ clean
{
	unsigned result = read_page(space) & WRITTEN;

	if (wait) {
		mutex_unlock(&space->lock);
		return result | RETRY;
	}
	return result;
}

int handle(struct space *space, int wait) //~ clean
{
	mutex_lock(&space->lock);
	if (fault(space, wait) & RETRY)
		return 1;
	mutex_unlock(&space->lock);
	return 0;
}

/* What a callee may have written to the caller's objects, it has seldom changed. */
struct nic {
	struct mutex lock, ring;
	unsigned long state;
	int slots;
};
unsigned long ask_hardware(struct nic *nic);

static int running(struct nic *nic) //~ untouched
{
	return nic->state & 1;
}

static void stop_ring(struct nic *nic) //~ clean
{
	mutex_lock(&nic->ring);
	nic->state = ask_hardware(nic);
	mutex_unlock(&nic->ring);
}

void resize(struct nic *nic, int slots) //~ clean
{
	if (running(nic))
		mutex_lock(&nic->lock);
	stop_ring(nic);
	nic->slots = slots;
	if (running(nic))
		mutex_unlock(&nic->lock);
}

int resize_badly(struct nic *nic, int slots)
{
	if (running(nic))
		mutex_lock(&nic->lock);
	stop_ring(nic);
	if (slots < 0)
		return 0; //~ lock/inconsistent-exit
	nic->slots = slots;
	if (running(nic))
		mutex_unlock(&nic->lock);
	return 0;
}

/* What it is to write, it writes. */
static void probe(struct nic *nic, int *gone) //~ clean
{
	mutex_lock(&nic->ring);
	*gone = ask_hardware(nic) == 0;
	mutex_unlock(&nic->ring);
}

int reset_badly(struct nic *nic)
{
	int gone = 0;

	mutex_lock(&nic->lock);
	probe(nic, &gone);
	if (gone)
		return 0; //~ lock/inconsistent-exit
	mutex_unlock(&nic->lock);
	return 0;
}
