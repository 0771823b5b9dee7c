/* Locks of a table, given back by a callee that goes through it. */
struct rw_semaphore { long count; };
void down_write(struct rw_semaphore *sem);
void up_write(struct rw_semaphore *sem);
struct volume { int frozen; struct rw_semaphore level[3]; };
int sync(struct volume *);
int freeze(struct volume *);

static void give_back(struct volume *v, int level)
{
	for (level--; level >= 0; level--)
		up_write(&v->level[level]);
}

static void wait_for(struct volume *v, int level)
{
	down_write(&v->level[level - 1]);
}

int freeze_all(struct volume *v)
{
	int err;

	wait_for(v, 1);
	wait_for(v, 2);
	err = sync(v);
	if (err) {
		give_back(v, 2);
		return err;
	}
	wait_for(v, 3);
	err = freeze(v);
	if (err) {
		give_back(v, 3);
		return err; //~ known-false-positive note lock/inconsistent-exit
	}
	v->frozen = 1;
	return 0;
}

int freeze_badly(struct volume *v)
{
	int err;

	wait_for(v, 1);
	err = sync(v);
	if (err)
		return err; //~ lock/inconsistent-exit
	v->frozen = 1;
	give_back(v, 1);
	return v->frozen;
}
