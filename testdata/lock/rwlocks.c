/* Reader-writer locks and semaphores. */
typedef struct { int v; } rwlock_t;
struct rw_semaphore { int v; };
void _raw_read_lock(rwlock_t *lock);
void _raw_write_lock(rwlock_t *lock);
void _raw_read_unlock(rwlock_t *lock);
void _raw_write_unlock(rwlock_t *lock);
#define read_lock(l) _raw_read_lock(l)
#define write_lock(l) _raw_write_lock(l)
#define read_unlock(l) _raw_read_unlock(l)
#define write_unlock(l) _raw_write_unlock(l)
void down_read(struct rw_semaphore *sem);
int down_read_trylock(struct rw_semaphore *sem);
void down_write(struct rw_semaphore *sem);
int down_write_killable(struct rw_semaphore *sem);
void up_read(struct rw_semaphore *sem);
void up_write(struct rw_semaphore *sem);
void downgrade_write(struct rw_semaphore *sem);
int work(int);
#define EINTR 4

struct map { rwlock_t lock; struct rw_semaphore sem; int entries; };

static int count(struct map *m) //~ clean
{
	int n;

	read_lock(&m->lock);
	n = m->entries;
	read_unlock(&m->lock);
	return n;
}

/* Readers may nest. */
int nested_readers(struct map *m) //~ clean
{
	int n;

	read_lock(&m->lock);
	n = m->entries + count(m);
	read_unlock(&m->lock);
	return n;
}

int reader_released_twice(struct map *m)
{
	int n;

	read_lock(&m->lock);
	n = work(m->entries);
	read_unlock(&m->lock);
	read_unlock(&m->lock); //~ lock/double-unlock
	return n;
}

/* Gives up the reader's lock that its caller holds. */
int reader_handed_in(struct map *m) //~ clean
{
	int n = count(m);

	read_unlock(&m->lock);
	return n;
}

/* A reader waits for the writer, which is itself. */
int reads_while_writing(struct map *m)
{
	int n;

	write_lock(&m->lock);
	n = count(m); //~ lock/double-lock
	write_unlock(&m->lock);
	return n;
}

/* Upgrading is not possible. */
int upgrade(struct map *m)
{
	read_lock(&m->lock);
	if (m->entries == 0) {
		write_lock(&m->lock); //~ lock/double-lock
		m->entries = 1;
		write_unlock(&m->lock);
	}
	read_unlock(&m->lock);
	return 0;
}

int upgrade_repaired(struct map *m) //~ clean
{
	int empty;

	read_lock(&m->lock);
	empty = m->entries == 0;
	read_unlock(&m->lock);
	if (empty) {
		write_lock(&m->lock);
		if (m->entries == 0)
			m->entries = 1;
		write_unlock(&m->lock);
	}
	return 0;
}

void wrong_side(struct map *m)
{
	write_lock(&m->lock);
	m->entries++;
	read_unlock(&m->lock); //~ lock/double-unlock
}

int killable(struct map *m) //~ clean
{
	if (down_write_killable(&m->sem))
		return -EINTR;
	m->entries++;
	downgrade_write(&m->sem);
	work(m->entries);
	up_read(&m->sem);
	return 0;
}

int downgraded_and_forgotten(struct map *m)
{
	down_write(&m->sem);
	m->entries++;
	downgrade_write(&m->sem);
	work(m->entries);
	up_write(&m->sem); //~ lock/double-unlock
	return 0;
}

/* Which side is held hangs on the mode. */
int by_mode(struct map *m, int writing) //~ clean
{
	int n;

	if (writing)
		down_write(&m->sem);
	else
		down_read(&m->sem);
	n = work(m->entries);
	if (writing)
		up_write(&m->sem);
	else
		up_read(&m->sem);
	return n;
}

int by_mode_confused(struct map *m)
{
	int err;

	if (work(0))
		down_write(&m->sem);
	else
		down_read(&m->sem);
	err = work(m->entries);
	up_read(&m->sem); //~ lock/double-unlock
	return err;
}

int tries(struct map *m) //~ clean
{
	if (!down_read_trylock(&m->sem)) {
		work(1);
		down_read(&m->sem);
	}
	work(2);
	up_read(&m->sem);
	return 0;
}

int error_path(struct map *m)
{
	down_read(&m->sem);
	if (work(1) < 0)
		return -EINTR; //~ lock/inconsistent-exit
	up_read(&m->sem);
	if (work(2) < 0)
		return -EINTR;
	return 0;
}
