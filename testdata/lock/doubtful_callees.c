/* What callees do under conditions that only they know. */

typedef struct { int counter; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

struct gate {
	spinlock_t lock;
	int owner, open;
};
int self(void);

/* Refuses what is not its own; who has taken it is its own. */
int give_back(struct gate *gate)
{
	if (gate->owner != self())
		return -1;
	gate->owner = 0;
	spin_unlock(&gate->lock);
	return 0;
}

void take(struct gate *gate)
{
	spin_lock(&gate->lock);
	gate->owner = self();
}

int count(struct gate *gate) //~ clean
{
	int open;

	take(gate);
	open = gate->open;
	give_back(gate);
	return open;
}

int count_early(struct gate *gate)
{
	int open;

	take(gate);
	open = gate->open;
	if (open > 7)
		return open; //~ lock/inconsistent-exit
	give_back(gate);
	return open;
}

/* On one path it takes the lock: nobody calls it with the lock held, whatever becomes of it on the other. */
int walk(struct gate *gate) //~ clean
{
	int seq = 0, again;

	do {
		if (seq & 1)
			spin_lock(&gate->lock);
		again = !(seq & 1) && gate->open;
		if (again)
			seq = 1;
	} while (again);
	if (seq & 1)
		spin_unlock(&gate->lock);
	return self();
}

int walk_unless(struct gate *gate, int quick) //~ clean
{
	if (quick)
		return self();
	return walk(gate);
}
