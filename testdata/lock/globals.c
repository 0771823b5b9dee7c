/* File-scope locks and flags. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
int probe(int);
_Noreturn void panic(const char *why);
void give_up(void) __attribute__((noreturn));
#define ENODEV 19

static struct mutex table_lock;
struct mutex bus_lock;
static struct { struct mutex lock; int used; } slots[4];
static int initialised;
static int (*hook)(int);

void start(void) //~ untouched
{
	initialised = 1;
}

int scan_bus(int n) //~ clean
{
	int found;

	mutex_lock(&bus_lock);
	found = probe(n);
	mutex_unlock(&bus_lock);
	return found;
}

int attach(int n)
{
	mutex_lock(&table_lock);
	if (!initialised) {
		mutex_unlock(&table_lock);
		return -ENODEV;
	}
	if (scan_bus(n) < 0)
		return -ENODEV; //~ lock/inconsistent-exit
	slots[1].used = n;
	mutex_unlock(&table_lock);
	return 0;
}

int attach_under_bus_lock(int n)
{
	int err;

	mutex_lock(&bus_lock);
	err = scan_bus(n); //~ lock/double-lock
	mutex_unlock(&bus_lock);
	return err;
}

void slot(void) //~ clean
{
	mutex_lock(&slots[0].lock);
	mutex_lock(&slots[1].lock);
	slots[0].used = slots[1].used;
	mutex_unlock(&slots[1].lock);
	mutex_unlock(&slots[0].lock);
}

/* Functions that do not come back. */
int must_work(int n) //~ clean
{
	mutex_lock(&table_lock);
	if (probe(n) < 0)
		panic("probe");
	if (probe(n + 1) < 0) {
		give_up();
	}
	if (probe(n + 2) < 0)
		__builtin_unreachable();
	mutex_unlock(&table_lock);
	return 0;
}

int through_hook(int n) //~ clean
{
	int result = 0;

	mutex_lock(&table_lock);
	if (hook)
		result = hook(n);
	mutex_unlock(&table_lock);
	return result;
}

/* A local lock starts unlocked. */
int local_lock(int n)
{
	struct mutex mine = { 0 };

	mutex_lock(&mine);
	n = probe(n);
	mutex_unlock(&mine);
	mutex_unlock(&mine); //~ lock/double-unlock
	return n;
}
