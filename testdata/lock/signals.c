/* Semaphores that tell that something is there, and semaphores that lock. */
struct semaphore { int count; };
int down_interruptible(struct semaphore *sem);
void down(struct semaphore *sem);
void up(struct semaphore *sem);
struct queue { struct semaphore filled; int items; };
struct port { struct semaphore busy; int bytes; };
int copy_out(int item);

/* Somebody has put something there. */
void produce(struct queue *q) //~ clean
{
	q->items++;
	up(&q->filled);
}

int consume(struct queue *q)
{
	int err = down_interruptible(&q->filled);

	if (err)
		return err;
	if (copy_out(q->items)) {
		/* It is still there. */
		up(&q->filled);
		return 0;
	}
	q->items--;
	return 0; //~ known-false-positive note lock/inconsistent-exit
}

int transfer(struct port *p)
{
	int err = down_interruptible(&p->busy);

	if (err)
		return err;
	if (copy_out(p->bytes)) {
		up(&p->busy);
		return 0;
	}
	p->bytes--;
	return 0; //~ certain lock/inconsistent-exit
}

void drain(struct port *p) //~ clean
{
	down(&p->busy);
	p->bytes = 0;
	up(&p->busy);
}

/* A write that is under way gives it back when it is done, somewhere else. */
struct node { struct semaphore writing; int dirty; };
static void start_write(struct node *n) //~ clean
{
	down(&n->writing);
	n->dirty = 0;
}

void write_done(struct node *n) //~ clean
{
	up(&n->writing);
}

void settle(struct node *n)
{
	if (n->dirty)
		start_write(n);
	down(&n->writing); //~ known-false-positive note lock/double-lock
	up(&n->writing);
}

/* Nobody else gives this one back. */
struct leaf { struct semaphore writing; int dirty; };
static void begin_write(struct leaf *l) //~ clean
{
	down(&l->writing);
	l->dirty = 0;
}

void settle_leaf(struct leaf *l)
{
	if (l->dirty)
		begin_write(l);
	down(&l->writing); //~ certain lock/double-lock
	up(&l->writing);
}

/* As many as there are. */
struct commands { struct semaphore free, pages; int count, allowed; };

void allow(struct commands *c, int what) //~ clean
{
	int i;

	for (i = 0; i < c->count; i++)
		down(&c->free);
	down(&c->pages);
	c->allowed = what;
	up(&c->pages);
	for (i = 0; i < c->count; i++)
		up(&c->free);
}

void allow_badly(struct commands *c, int what)
{
	down(&c->pages);
	c->allowed = what;
	down(&c->pages); //~ lock/double-lock
	up(&c->pages);
}
