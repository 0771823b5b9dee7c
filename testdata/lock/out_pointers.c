/* The caller gets the lock that is held by way of a pointer that it passes. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
struct page { unsigned long words[5]; spinlock_t lock; };
struct space { spinlock_t lock; int large; int shared; };
struct entry { unsigned long value; };
struct walk { spinlock_t *lock; struct entry *entry; };
extern struct page *pages;
struct entry *find(struct space *s, unsigned long at, unsigned long *page);

static struct entry *map_locked(struct space *s, unsigned long at, spinlock_t **lockp) //~ clean
{
	unsigned long page;
	struct entry *entry = find(s, at, &page);

	if (!entry)
		return 0;
	*lockp = &pages[page & 0xfffff].lock;
	spin_lock(*lockp);
	return entry;
}

int clear(struct space *s, int n) //~ clean
{
	int i;

	for (i = 0; i < n; i++) {
		spinlock_t *lock;
		struct entry *entry = map_locked(s, i, &lock);

		if (!entry)
			return -12;
		entry->value = 0;
		spin_unlock(lock);
	}
	return 0;
}

/* One lock or another: which one, the walk tells. */
int start(struct space *s, unsigned long at, struct walk *walk) //~ clean
{
	if (s->large) {
		spin_lock(&s->lock);
		if (!s->large) {
			spin_unlock(&s->lock);
			return -22;
		}
		walk->lock = &s->lock;
		walk->entry = 0;
		return 0;
	}
	walk->entry = map_locked(s, at, &walk->lock);
	if (!walk->entry)
		return -22;
	return 0;
}

void end(struct walk *walk) //~ clean
{
	spin_unlock(walk->lock);
}

int start_badly(struct space *s, struct walk *walk)
{
	spin_lock(&s->lock);
	if (s->shared)
		return -22; //~ lock/inconsistent-exit
	spin_unlock(&s->lock);
	walk->lock = 0;
	return -22;
}
