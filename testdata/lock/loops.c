/* Lock operations in loops. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
int more(int);

struct queue { spinlock_t lock; int length; int items[32]; };

void drain(struct queue *q) //~ clean
{
	while (more(q->length)) {
		spin_lock(&q->lock);
		q->length--;
		spin_unlock(&q->lock);
	}
}

/* The unlock is inside, the lock is not. */
void drain_unlocking(struct queue *q)
{
	spin_lock(&q->lock);
	do {
		q->length--;
		spin_unlock(&q->lock); //~ lock/double-unlock
	} while (more(q->length));
}

/* The lock is inside, the unlock is not. */
void drain_locking(struct queue *q)
{
	do {
		spin_lock(&q->lock); //~ lock/double-lock
		q->length--;
	} while (more(q->length));
	spin_unlock(&q->lock);
}

/* continue goes past the unlock. */
void drain_continue(struct queue *q, int n)
{
	for (;; n++) {
		spin_lock(&q->lock); //~ lock/double-lock
		if (q->items[n] == 0)
			continue;
		q->items[n] = 0;
		spin_unlock(&q->lock);
		return;
	}
}

void drain_continue_repaired(struct queue *q, int n) //~ clean
{
	int i;

	for (i = 0; i < n; i++) {
		spin_lock(&q->lock);
		if (q->items[i] == 0) {
			spin_unlock(&q->lock);
			continue;
		}
		q->items[i] = 0;
		spin_unlock(&q->lock);
	}
}

/* break leaves it held, the end of the loop does not. */
int search(struct queue *q, int key)
{
	int i;

	for (i = 0; i < 32; i++) {
		spin_lock(&q->lock);
		if (q->items[i] == key)
			break;
		spin_unlock(&q->lock);
	}
	return 0; //~ lock/inconsistent-exit
}

int search_repaired(struct queue *q, int key) //~ clean
{
	int i;

	spin_lock(&q->lock);
	for (i = 0; i < 32; i++)
		if (q->items[i] == key)
			break;
	spin_unlock(&q->lock);
	return i;
}

/* Takes a rest every so often. */
void scan(struct queue *q) //~ clean
{
	int i;

	spin_lock(&q->lock);
	for (i = 0; i < q->length; i++) {
		if (more(i)) {
			spin_unlock(&q->lock);
			more(0);
			spin_lock(&q->lock);
		}
		q->items[i & 31]++;
	}
	spin_unlock(&q->lock);
}

/* Exactly three rounds, the last of which releases. */
void counted(struct queue *q) //~ clean
{
	int i;

	spin_lock(&q->lock);
	for (i = 0; i < 3; i++) {
		q->items[i] = i;
		if (i == 2)
			spin_unlock(&q->lock);
	}
}

/* What follows a search through a table of constant size is reached. */
int first_free(struct queue *q)
{
	int i;

	for (i = 0; i < 32; i++)
		if (!q->items[i])
			return i;
	spin_lock(&q->lock);
	q->length = 0;
	spin_lock(&q->lock); //~ lock/double-lock
	return -1;
}

int first_match(struct queue *q, int key) //~ clean
{
	int i = 0;

	spin_lock(&q->lock);
	do {
		if (q->items[i] == key) {
			spin_unlock(&q->lock);
			return i;
		}
	} while (++i < 32);
	spin_unlock(&q->lock);
	return -1;
}
