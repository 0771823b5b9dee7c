/* A function of which nothing is known leaves a pointer to a lock that it has taken, by way of a small function or in a record; and takes
 * what it gets, as its name says. */
typedef struct spinlock { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
struct space;
struct walk { int *entry; spinlock_t *lock; };
extern int *find_locked(struct space *s, unsigned long at, spinlock_t **lockp);
extern void slot_lock(spinlock_t *lock);
extern void slot_note(spinlock_t *lock);
extern void use(int *entry);

static inline int *find(struct space *s, unsigned long at, spinlock_t **lockp)
{
	int *entry = find_locked(s, at, lockp);
	return entry;
}

int clear(struct space *s, int n) //~ clean
{
	spinlock_t *lock;
	int i;

	for (i = 0; i < n; i++) {
		int *entry = find(s, i, &lock);

		if (!entry)
			return -12;
		use(entry);
		spin_unlock(lock);
	}
	return 0;
}

int clear_badly(struct space *s, int n)
{
	spinlock_t *lock;
	int i;

	for (i = 0; i < n; i++) {
		int *entry = find(s, i, &lock);

		if (!entry)
			return -12;
		use(entry);
		spin_unlock(lock);
		spin_unlock(lock); //~ lock/double-unlock
	}
	return 0;
}

int twice(struct space *s, struct walk *walk) //~ clean
{
	walk->entry = find(s, 1, &walk->lock);
	spin_unlock(walk->lock);
	walk->entry = find_locked(s, 2, &walk->lock);
	spin_unlock(walk->lock);
	return 0;
}

int twice_badly(struct space *s, struct walk *walk)
{
	walk->entry = find(s, 1, &walk->lock);
	spin_unlock(walk->lock);
	use(walk->entry);
	spin_unlock(walk->lock); //~ lock/double-unlock
	return 0;
}

void rounds(struct walk *walk) //~ clean
{
	slot_lock(walk->lock);
	spin_unlock(walk->lock);
	slot_lock(walk->lock);
	spin_unlock(walk->lock);
}

void rounds_badly(struct walk *walk)
{
	slot_lock(walk->lock);
	spin_unlock(walk->lock);
	slot_note(walk->lock);
	spin_unlock(walk->lock); //~ lock/double-unlock
}
