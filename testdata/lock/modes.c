/* A lock held the one way or the other, and results that say which, or that someone else gives it back. */
struct rw_semaphore { int v; };
void down_read(struct rw_semaphore *sem);
void up_read(struct rw_semaphore *sem);
void down_write(struct rw_semaphore *sem);
void up_write(struct rw_semaphore *sem);
struct super { int flags; struct rw_semaphore umount; };
struct request { struct super *super; int (*write)(struct request *r); int size; };
void done(struct request *r);
int verify(struct request *r);

static int take(struct super *s, int exclusive) //~ clean
{
	if (exclusive)
		down_write(&s->umount);
	else
		down_read(&s->umount);
	if (s->flags & 1) {
		if (exclusive)
			up_write(&s->umount);
		else
			up_read(&s->umount);
		return 0;
	}
	return 1;
}

int change(struct super *s) //~ clean
{
	if (!take(s, 1))
		return -1;
	s->flags |= 2;
	up_write(&s->umount);
	return 0;
}

int change_badly(struct super *s)
{
	if (!take(s, 1))
		return -1;
	if (s->flags & 4)
		return -1; //~ lock/held-on-exit
	up_write(&s->umount);
	return 0;
}

/* A request that is queued gives it back when it is done. */
int submit(struct request *r)
{
	int ret = verify(r);

	if (ret < 0)
		return ret;
	down_read(&r->super->umount);
	ret = r->write(r);
	if (ret != -529)
		up_read(&r->super->umount);
	return ret; //~ known-false-positive note lock/inconsistent-exit
}

/* Which error it is tells nobody that something is held. */
int submit_badly(struct request *r)
{
	int ret = verify(r);

	if (ret < 0)
		return ret;
	down_read(&r->super->umount);
	ret = r->write(r);
	if (ret != -5)
		up_read(&r->super->umount);
	return ret; //~ certain lock/inconsistent-exit
}
