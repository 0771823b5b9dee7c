/* Which function is called is chosen where it is called. */
struct rw_semaphore { int v; };
void down_read(struct rw_semaphore *lock);
void up_read(struct rw_semaphore *lock);
void down_write(struct rw_semaphore *lock);
void up_write(struct rw_semaphore *lock);
struct tree { struct rw_semaphore lock; struct tree *root; int level; };
int visit(struct tree *t);

static inline void rw_lock(int write, struct tree *t)
{
	write ? down_write(&t->lock) : down_read(&t->lock);
}

static inline void rw_unlock(int write, struct tree *t)
{
	(write ? up_write : up_read)(&t->lock);
}

int visit_all(struct tree *t) //~ clean
{
	int result;

	do {
		int write = t->level > 2;

		rw_lock(write, t);
		result = visit(t);
		rw_unlock(write, t);
	} while (result == -4);
	return result;
}

int visit_wrongly(struct tree *t, int write)
{
	int result;

	rw_lock(write, t);
	result = visit(t);
	if (result < 0)
		return result; //~ lock/held-on-exit
	rw_unlock(write, t);
	return result;
}

void visit_mixed(struct tree *t, int write)
{
	down_read(&t->lock);
	visit(t);
	(write ? up_write : up_read)(&t->lock); //~ lock/double-unlock
}
