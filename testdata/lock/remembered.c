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
