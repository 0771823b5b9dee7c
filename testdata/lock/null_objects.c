/* Where a pointer is null there is no object: helpers that do nothing then, and their callers. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
int step(int n);

struct group { int refs; spinlock_t lock; };
struct stream { struct group *group; int linked; };

/* The stream's group, locked, or null if it is in none. */
static struct group *group_get(struct stream *s) //~ clean
{
	struct group *g;

	if (!s->linked)
		return 0;
	g = s->group;
	spin_lock(&g->lock);
	return g;
}

static void group_put(struct group *g) //~ clean
{
	if (!g)
		return;
	spin_unlock(&g->lock);
}

int action(struct stream *s) //~ clean
{
	struct group *g = group_get(s);
	int result = step(s->linked);

	group_put(g);
	return result;
}

int action_forgets(struct stream *s)
{
	struct group *g = group_get(s);

	if (step(s->linked))
		return 0; //~ lock/inconsistent-exit
	group_put(g);
	return 0;
}

/* A stream that is looked up and may not be there. */
struct stream *find(int id);

void release_group_of(int id) //~ clean
{
	struct stream *s = find(id);

	if (!s)
		return;
	spin_unlock(&s->group->lock);
}

/* The test for null comes after the first use of the pointer, as in destructors of guards. */
void tested_late(struct group *g) //~ clean
{
	spin_lock(&g->lock);
	g->refs++;
	if (&g->lock)
		spin_unlock(&g->lock);
}
