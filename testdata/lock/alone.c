/* Given back by one that nobody can have taken for: nothing ever leaves such a lock held. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct rw_semaphore { int v; };
void down_write(struct rw_semaphore *lock);
void up_write(struct rw_semaphore *lock);
void down_read(struct rw_semaphore *lock);
void up_read(struct rw_semaphore *lock);
int busy(void);

/* Called by one that says nothing of it. */
static struct mutex init_mutex;
static int ready;

static void init(int cpu)
{
	if (cpu < 0)
		return;
	if (!ready)
		busy();
	ready = 1;
	mutex_unlock(&init_mutex); //~ certain lock/unlock-unheld
}

void start_cpu(int cpu) //~ clean
{
	init(cpu);
}

/* The caller has taken it. */
static struct mutex stop_mutex;
static int stopped;

static void stop(void) //~ clean
{
	stopped++;
	mutex_unlock(&stop_mutex);
}

void stop_cpu(int cpu) //~ clean
{
	mutex_lock(&stop_mutex);
	if (cpu)
		busy();
	stop();
}

/* What keeps it for others has others that give it back. */
static struct rw_semaphore families;
static int count;

static void lock_all(void) //~ clean
{
	down_write(&families);
}

static void unlock_all(void) //~ clean
{
	up_write(&families);
}

int add_family(void) //~ clean
{
	lock_all();
	count++;
	unlock_all();
	return count;
}

int drop_family(void) //~ clean
{
	lock_all();
	count--;
	unlock_all();
	return count;
}

static int unbind(int group)
{
	if (busy())
		count -= group;
	up_read(&families); //~ certain lock/unlock-unheld
	return count;
}

static int bind(int group) //~ clean
{
	down_read(&families);
	if (busy())
		count += group;
	up_read(&families);
	return count;
}

struct group_ops { int (*bind)(int group); int (*unbind)(int group); };
struct group_ops group_ops = { bind, unbind };

/* A caller that has taken it and given it back does not hold it. */
struct dev { struct mutex watchdog, space; int armed; };

static void disarm(struct dev *d) //~ clean
{
	mutex_lock(&d->watchdog);
	d->armed = 0;
	mutex_unlock(&d->watchdog);
}

static void arm(struct dev *d)
{
	d->armed = 1;
	if (busy())
		d->armed++;
	mutex_unlock(&d->watchdog); //~ certain lock/unlock-unheld
}

void bounce(struct dev *d)
{
	disarm(d);
	arm(d); //~ known-false-positive lock/double-unlock
}

/* A method that is called `release` releases more than locks. */
static void close_space(struct dev *d)
{
	d->armed = 0;
	if (busy())
		d->armed++;
	mutex_unlock(&d->space); //~ certain lock/unlock-unheld
}

static void space_release(struct dev *d) //~ clean
{
	close_space(d);
}

struct space_ops { void (*release)(struct dev *d); };
struct space_ops space_ops = { space_release };

/* Takes it at times and gives it back at others, as its last argument says. */
struct reader { struct mutex atomic_read; int left; };

static int read_some(struct reader *r, int size, int *cookie) //~ clean
{
	if (*cookie) {
		r->left -= size;
		if (r->left > 0)
			return size;
		*cookie = 0;
		mutex_unlock(&r->atomic_read);
		return 0;
	}
	mutex_lock(&r->atomic_read);
	if (r->left > size) {
		*cookie = 1;
		return size;
	}
	mutex_unlock(&r->atomic_read);
	return size;
}

struct line_ops { int (*read)(struct reader *r, int size, int *cookie); };
struct line_ops line_ops = { read_some };
int copy(int size);

int read_all(struct line_ops *ops, struct reader *r) //~ clean
{
	int cookie = 0, size;

	do {
		size = ops->read(r, 64, &cookie);
		if (size && copy(size) && !cookie)
			break;
	} while (cookie);
	return size;
}
