/* Several locks at once. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

struct account { spinlock_t lock; int id; int balance; };

void transfer(struct account *from, struct account *to, int amount) //~ clean
{
	struct account *first = from->id < to->id ? from : to;
	struct account *second = from->id < to->id ? to : from;

	spin_lock(&first->lock);
	spin_lock(&second->lock);
	from->balance -= amount;
	to->balance += amount;
	spin_unlock(&from->lock);
	spin_unlock(&to->lock);
}

/* Releases one twice and the other never. */
void transfer_mixed_up(struct account *from, struct account *to, int amount)
{
	spin_lock(&from->lock);
	spin_lock(&to->lock);
	from->balance -= amount;
	to->balance += amount;
	spin_unlock(&from->lock);
	spin_unlock(&from->lock); //~ lock/double-unlock
}

int balance(struct account *a) //~ clean
{
	int n;

	spin_lock(&a->lock);
	n = a->balance;
	spin_unlock(&a->lock);
	return n;
}

int total(struct account *a, struct account *b)
{
	int n;

	spin_lock(&a->lock);
	n = a->balance + balance(b);
	n += balance(a); //~ lock/double-lock
	spin_unlock(&a->lock);
	return n;
}

struct node { spinlock_t lock; struct node *next; int key; };

/* Hand over hand. */
struct node *find(struct node *head, int key) //~ clean
{
	struct node *node = head, *next;

	spin_lock(&node->lock);
	while (node->key < key && node->next) {
		next = node->next;
		spin_lock(&next->lock);
		spin_unlock(&node->lock);
		node = next;
	}
	spin_unlock(&node->lock);
	return node;
}

void same_account_checked(struct account *a, struct account *b) //~ clean
{
	spin_lock(&a->lock);
	if (a != b)
		spin_lock(&b->lock);
	b->balance = a->balance;
	if (a != b)
		spin_unlock(&b->lock);
	spin_unlock(&a->lock);
}
