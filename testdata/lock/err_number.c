/* An error number that is returned as a pointer is not by chance the pointer that is returned with the lock held. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct dir { struct mutex lock; int dead; };
struct entry { int v; };
extern int pin(struct dir *dir);
extern struct entry *look_up(struct dir *dir);
static inline void *ERR_PTR(long error) { return (void *)error; }
static inline int IS_ERR(const void *p) { return (unsigned long)p >= (unsigned long)-4095; }

struct entry *start_creating(struct dir *dir)
{
	struct entry *entry;
	int error = pin(dir);

	if (error)
		return ERR_PTR(error);
	mutex_lock(&dir->lock);
	entry = look_up(dir);
	if (IS_ERR(entry))
		mutex_unlock(&dir->lock);
	return entry; //~ note lock/inconsistent-exit
}

void done_creating(struct dir *dir)
{
	mutex_unlock(&dir->lock); //~ note lock/unlock-unheld
}

struct entry *start_badly(struct dir *dir)
{
	struct entry *entry;
	int error = pin(dir);

	if (error)
		return ERR_PTR(error);
	mutex_lock(&dir->lock);
	if (dir->dead)
		return ERR_PTR(-2); //~ lock/inconsistent-exit
	entry = look_up(dir);
	if (IS_ERR(entry))
		mutex_unlock(&dir->lock);
	return entry;
}
