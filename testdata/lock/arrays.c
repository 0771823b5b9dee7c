/* Locks in arrays. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

#define BUCKETS 64
struct bucket { spinlock_t lock; int count; };
struct table { int size; struct bucket buckets[BUCKETS]; };
static spinlock_t stripes[16];

void same_index(struct table *t, unsigned i) //~ clean
{
	spin_lock(&t->buckets[i].lock);
	t->buckets[i].count++;
	spin_unlock(&t->buckets[i].lock);
}

void same_index_twice(struct table *t, unsigned i)
{
	struct bucket *b = &t->buckets[i];

	spin_lock(&b->lock);
	b->count++;
	spin_lock(&t->buckets[i].lock); //~ lock/double-lock
	spin_unlock(&b->lock);
}

/* Two buckets, told apart before they are locked. */
void move(struct table *t, unsigned from, unsigned to) //~ clean
{
	if (from == to)
		return;
	spin_lock(&t->buckets[from].lock);
	spin_lock(&t->buckets[to].lock);
	t->buckets[from].count--;
	t->buckets[to].count++;
	spin_unlock(&t->buckets[to].lock);
	spin_unlock(&t->buckets[from].lock);
}

void neighbours(struct table *t, unsigned i) //~ clean
{
	spin_lock(&t->buckets[i].lock);
	spin_lock(&t->buckets[i + 1].lock);
	t->buckets[i].count = t->buckets[i + 1].count;
	spin_unlock(&t->buckets[i + 1].lock);
	spin_unlock(&t->buckets[i].lock);
}

/* i + 1 - 1 is i. */
void there_and_back(struct table *t, unsigned long i)
{
	struct bucket *b = &t->buckets[i + 1];

	spin_lock(&t->buckets[i].lock);
	b--;
	spin_lock(&b->lock); //~ lock/double-lock
	spin_unlock(&b->lock);
}

void hashed(unsigned long key) //~ clean
{
	spinlock_t *l = &stripes[key % 16];

	spin_lock(l);
	spin_unlock(&stripes[key & 15]);
}

void each_in_turn(struct table *t) //~ clean
{
	int i;

	for (i = 0; i < t->size; i++) {
		spin_lock(&t->buckets[i].lock);
		t->buckets[i].count = 0;
		spin_unlock(&t->buckets[i].lock);
	}
}

void all_at_once(struct table *t) //~ clean
{
	int i;

	for (i = 0; i < 2; i++)
		spin_lock(&t->buckets[i].lock);
	t->size = 0;
	for (i = 0; i < 2; i++)
		spin_unlock(&t->buckets[i].lock);
}

/* The index does not move. */
void stuck(struct table *t)
{
	int i = 0, at = 0;

	do {
		spin_lock(&t->buckets[at].lock); //~ lock/double-lock
		t->buckets[i].count = 0;
	} while (++i < t->size);
	spin_unlock(&t->buckets[at].lock);
}

/* A value with many choices that have nothing to do with each other is no pointer to take apart. */
void report(long flags);

#define BIT(n) ((mask >> n & 1) ? t->buckets[n].count : n)
void many_choices(struct table *t, long mask) //~ clean
{
	long sum = BIT(0) * 3L + BIT(1) * 5L + BIT(2) * 7L + BIT(3) * 9L + BIT(4) * 11L + BIT(5) * 13L
		+ BIT(6) * 15L + BIT(7) * 17L + BIT(8) * 19L + BIT(9) * 21L + BIT(10) * 23L + BIT(11) * 25L
		+ BIT(12) * 27L + BIT(13) * 29L + BIT(14) * 31L + BIT(15) * 33L + BIT(16) * 35L + BIT(17) * 37L
		+ BIT(18) * 39L + BIT(19) * 41L + BIT(20) * 43L + BIT(21) * 45L + BIT(22) * 47L + BIT(23) * 49L
		+ BIT(24) * 51L + BIT(25) * 53L + BIT(26) * 55L + BIT(27) * 57L + BIT(28) * 59L + BIT(29) * 61L;

	spin_lock(&t->buckets[0].lock);
	report(sum);
	spin_unlock(&t->buckets[0].lock);
}

/* What a cursor was loaded with is the index that the caller means, also when it was loaded one round earlier. */
struct cursor { unsigned group; void *page; };
struct work { struct work *next; unsigned group; long start; };
int load(struct table *t, unsigned group, struct cursor *c);
int busy(struct table *t);

static void trim(struct table *t, struct cursor *c, long start)
{
	while (busy(t)) {
		spin_unlock(&t->buckets[c->group % BUCKETS].lock);
		report(start++);
		spin_lock(&t->buckets[c->group % BUCKETS].lock);
	}
}

void discard(struct table *t, struct work *w) //~ clean
{
	struct cursor c;
	unsigned loaded = -1u;

	for (; w; w = w->next) {
		if (w->group != loaded) {
			if (load(t, w->group, &c)) {
				loaded = -1u;
				continue;
			}
			loaded = w->group;
		}
		spin_lock(&t->buckets[w->group % BUCKETS].lock);
		trim(t, &c, w->start);
		spin_unlock(&t->buckets[w->group % BUCKETS].lock);
	}
}

void discard_one(struct table *t, struct work *w)
{
	spin_lock(&t->buckets[w->group % BUCKETS].lock);
	report(w->start);
	spin_unlock(&t->buckets[w->group % BUCKETS].lock);
	if (busy(t))
		spin_unlock(&t->buckets[w->group % BUCKETS].lock); //~ lock/double-unlock
}
