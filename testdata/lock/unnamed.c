/* A callee takes a lock that its callers have no name for: they find it in another way. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
struct node { int id; spinlock_t lock; int value; };
struct node *lookup(int id);

static void take(struct node *n)
{
	struct node *same = lookup(n->id);
	int i;

	for (i = 0; i < n->value; i++)
		n->id++;
	spin_lock(&same->lock);
	same->value = 0;
} //~ known-false-positive note lock/held-on-exit

static void take_by(struct node *n)
{
	n->value--;
	take(n);
}

void update(struct node *n)
{
	take_by(n);
	n->value++;
	spin_unlock(&n->lock);
	if (n->value) {
		take_by(n);
		spin_unlock(&n->lock); //~ known-false-positive note lock/double-unlock
	}
}

static void look(struct node *n)
{
	struct node *same = lookup(n->id);

	spin_lock(&same->lock);
	same->value = 0;
	spin_unlock(&same->lock);
}

void update_badly(struct node *n)
{
	spin_lock(&n->lock);
	n->value++;
	spin_unlock(&n->lock);
	look(n);
	spin_unlock(&n->lock); //~ certain lock/double-unlock
}
