/* Gone through with a lock held that each of what is found there gives back itself, by its own pointer. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
struct entry;
struct inode { spinlock_t lock; struct entry *entries; };
struct entry { struct inode *inode; struct entry *next; int count; int hashed; };
void unhash(struct entry *e);
void forget(struct entry *e);

static void unlink_inode(struct entry *e) //~ clean
{
	struct inode *inode = e->inode;

	if (e->hashed)
		unhash(e);
	e->inode = 0;
	spin_unlock(&inode->lock);
}

static void kill(struct entry *e) //~ clean
{
	if (e->hashed)
		unhash(e);
	if (e->inode)
		unlink_inode(e);
	forget(e);
}

void prune(struct inode *inode) //~ clean
{
	struct entry *e;
restart:
	spin_lock(&inode->lock);
	for (e = inode->entries; e; e = e->next) {
		if (!e->count) {
			kill(e);
			goto restart;
		}
	}
	spin_unlock(&inode->lock);
}

void prune_wrongly(struct inode *inode)
{
	struct entry *e;
restart:
	spin_lock(&inode->lock); //~ certain lock/double-lock
	for (e = inode->entries; e; e = e->next) {
		if (!e->count) {
			forget(e);
			goto restart;
		}
	}
	spin_unlock(&inode->lock);
}
