/* The lock of a table that a caller has taken is found again by the same hash. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct file { unsigned long id; int missing; int userfault; };
unsigned hash_of(struct file *file, unsigned long index);
int tell_user(struct file *file);
static struct mutex *faults;
static struct mutex *truncations;

static int leave_to_user(struct file *file, unsigned long index) //~ clean
{
	unsigned hash = hash_of(file, index);

	mutex_unlock(&faults[hash]);
	return tell_user(file);
}

static int no_page(struct file *file, unsigned long index) //~ clean
{
	unsigned hash = hash_of(file, index);

	if (file->userfault)
		return leave_to_user(file, index);
	mutex_unlock(&faults[hash]);
	return 0;
}

int fault(struct file *file, unsigned long index) //~ clean
{
	unsigned hash = hash_of(file, index);

	mutex_lock(&faults[hash]);
	if (file->missing)
		return no_page(file, index);
	mutex_unlock(&faults[hash]);
	return 0;
}

/* Nobody has taken this one. */
static int leave_truncation(struct file *file, unsigned long index)
{
	unsigned hash = hash_of(file, index);

	mutex_unlock(&truncations[hash]); //~ certain lock/unlock-unheld
	return tell_user(file);
}

int truncate(struct file *file, unsigned long index) //~ clean
{
	unsigned hash = hash_of(file, index);

	if (file->userfault)
		return leave_truncation(file, index);
	mutex_lock(&truncations[hash]);
	file->missing = 1;
	mutex_unlock(&truncations[hash]);
	return 0;
}
