/* Whether a callee sleeps is told by a flag in a record that another one sets up. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
void msleep(unsigned int ms);
struct list { struct list *next; void *data; };
struct cursor { struct list *at; void *data; unsigned length, left, flags; };
struct port { spinlock_t lock; struct list *list; char buffer[64]; };
#define ATOMIC 1u

static void *map(struct list *at)
{
	msleep(1);
	return at->data;
}

/* Too large to be looked into, and without a lock. */
static void start(struct cursor *c, struct list *list, unsigned flags)
{
	unsigned left = 0;
	struct list *at;

	for (at = list; at; at = at->next)
		left++;
	c->at = list;
	c->left = left;
	c->flags = flags;
}

static int next(struct cursor *c)
{
	if (!c->left)
		return 0;
	if (c->flags & ATOMIC)
		c->data = c->at->data;
	else
		c->data = map(c->at);
	c->left--;
	return 1;
}

static int fill(struct list *list, char *from, unsigned flags)
{
	struct cursor c;
	int n = 0;

	start(&c, list, flags);
	while (next(&c))
		*(char *)c.data = from[n++];
	return n;
}

int send(struct port *p) //~ clean
{
	int n;

	spin_lock(&p->lock);
	n = fill(p->list, p->buffer, ATOMIC);
	spin_unlock(&p->lock);
	return n;
}

static int fill_slowly(struct list *list, char *from)
{
	int n = 0;

	do {
		*(char *)map(list) = from[n++];
		list = list->next;
	} while (list);
	return n;
}

int send_badly(struct port *p)
{
	int n;

	spin_lock(&p->lock);
	n = fill_slowly(p->list, p->buffer); //~ lock/sleep-in-atomic
	spin_unlock(&p->lock);
	return n;
}
