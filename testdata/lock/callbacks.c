/* A helper takes a lock and calls what it was given, which gives it back. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct kref { int count; };
int last_of(struct kref *ref);
void unlink(void *);
void thread_run(int (*run)(void *), void *data);

static inline int put_mutex(struct kref *ref, void (*release)(struct kref *ref), struct mutex *lock) //~ clean
{
	mutex_lock(lock);
	if (last_of(ref)) {
		release(ref);
		return 1;
	}
	mutex_unlock(lock);
	return 0;
}

struct file { int id; struct mutex lock; };
struct block { struct kref ref; struct file *file; };

static void free_block(struct kref *ref) //~ clean
{
	struct block *block = (struct block *)ref;
	struct file *file = block->file;

	unlink(block);
	mutex_unlock(&file->lock);
}

void release_block(struct block *block) //~ clean
{
	if (block)
		put_mutex(&block->ref, free_block, &block->file->lock);
}

static void lose_block(struct kref *ref) //~ untouched
{
	unlink(ref);
}

void forget_block(struct block *block)
{
	put_mutex(&block->ref, lose_block, &block->file->lock);
} //~ lock/inconsistent-exit

/* Who starts a thread does not hold this program's own global lock for it. */
static struct mutex waiting;
static int waiters;

static int reclaim(void *data)
{
	if (!data)
		return 0;
	waiters = 0;
	mutex_unlock(&waiting); //~ certain lock/unlock-unheld
	return 0;
}

static int reclaim_locked(void *data) //~ clean
{
	mutex_lock(&waiting);
	waiters = 0;
	mutex_unlock(&waiting);
	return 0;
}

void start(void *data) //~ clean
{
	thread_run(reclaim, data);
	thread_run(reclaim_locked, data);
}

/* Stored for later, the lock not held by anyone. */
struct table { struct mutex lock; int count; void (*flush)(struct table *t); };

static void flush(struct table *t)
{
	t->count = 0;
	mutex_unlock(&t->lock); //~ certain lock/unlock-unheld
}

void init(struct table *t) //~ clean
{
	t->flush = flush;
}
