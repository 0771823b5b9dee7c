/* Recursive functions. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

struct tree { spinlock_t lock; struct tree *left, *right; int value; };

/* Each node has its own lock. */
int sum(struct tree *t) //~ clean
{
	int total;

	if (!t)
		return 0;
	spin_lock(&t->lock);
	total = t->value;
	spin_unlock(&t->lock);
	return total + sum(t->left) + sum(t->right);
}

/* The lock is released before the recursion. */
int depth(struct tree *t, int n) //~ clean
{
	spin_lock(&t->lock);
	t->value = n;
	spin_unlock(&t->lock);
	if (n > 0)
		return depth(t, n - 1) + 1;
	return 0;
}

/* Calls itself with the lock held. */
int depth_locked(struct tree *t, int n)
{
	int deeper = 0;

	spin_lock(&t->lock);
	t->value = n;
	if (n > 0)
		deeper = depth_locked(t, n - 1); //~ lock/double-lock
	spin_unlock(&t->lock);
	return deeper + 1;
}

void ping(struct tree *t, int n);

void pong(struct tree *t, int n) //~ clean
{
	if (n > 0)
		ping(t, n - 1);
}

void ping(struct tree *t, int n) //~ clean
{
	spin_lock(&t->lock);
	t->value += n;
	spin_unlock(&t->lock);
	pong(t, n);
}

/* A circle of calls, its last function first: what `release_all` does is known where `walk_all` is looked
 * at. */
struct ring { spinlock_t lock; struct ring *child; };
void release_all(struct ring *ring);
void walk_all(struct ring *ring, int depth);

void visit(struct ring *ring, int depth) //~ clean
{
	walk_all(ring->child, depth - 1);
	spin_lock(&ring->lock);
	release_all(ring);
}

void walk_all(struct ring *ring, int depth) //~ clean
{
	if (depth > 0)
		visit(ring, depth);
}

void release_all(struct ring *ring) //~ clean
{
	if (ring->child == ring)
		walk_all(ring, 0);
	spin_unlock(&ring->lock);
}
