/* A lock that its owner may take again gives itself up on the way, if it is held, and comes back. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct task;
extern struct task *current_task;
struct info { struct mutex lock; struct task *owner; int depth; };
void wait_for(struct info *i);

static inline struct task *get_current(void)
{
	struct task *task;

	asm("mov %1,%0" : "=r"(task) : "p"(&current_task));
	return task;
}

void write_lock(struct info *i)
{
	if (i->owner != get_current()) {
		mutex_lock(&i->lock);
		i->owner = get_current();
	}
	i->depth++;
} //~ known-false-positive note lock/inconsistent-exit

int write_unlock_nested(struct info *i)
{
	int depth;

	if (i->owner != get_current())
		return -1; //~ known-false-positive note lock/inconsistent-exit
	depth = i->depth;
	i->depth = -1;
	i->owner = 0;
	mutex_unlock(&i->lock);
	return depth;
}

void write_lock_nested(struct info *i, int depth) //~ clean
{
	if (depth == -1)
		return;
	mutex_lock(&i->lock);
	i->owner = get_current();
	i->depth = depth;
}

void wait_unlocked(struct info *i) //~ clean
{
	int depth = write_unlock_nested(i);

	wait_for(i);
	write_lock_nested(i, depth);
}

void wait_wrongly(struct info *i)
{
	mutex_lock(&i->lock);
	wait_for(i);
	write_lock_nested(i, 3); //~ lock/double-lock
	mutex_unlock(&i->lock);
}
