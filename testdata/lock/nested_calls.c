/* A lock operation three calls below, and helpers that expect the lock held. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
void outb(int value, int port);

struct uart { struct mutex lock; int port; int shadow; };
struct board { int id; struct uart *console; struct uart uart[2]; };

static void put(struct uart *u, int c) //~ clean
{
	mutex_lock(&u->lock);
	outb(c, u->port);
	mutex_unlock(&u->lock);
}

static void put_line(struct uart *u, const char *text) //~ clean
{
	while (*text)
		put(u, *text++);
	put(u, '\n');
}

static void report(struct board *b, const char *text) //~ clean
{
	if (b->console)
		put_line(b->console, text);
}

void board_event(struct board *b)
{
	mutex_lock(&b->console->lock);
	b->console->shadow = 0;
	report(b, "event"); //~ lock/double-lock
	mutex_unlock(&b->console->lock);
}

void board_event_repaired(struct board *b) //~ clean
{
	mutex_lock(&b->console->lock);
	b->console->shadow = 0;
	mutex_unlock(&b->console->lock);
	report(b, "event");
}

/* Another uart's lock. */
void board_other(struct board *b) //~ clean
{
	mutex_lock(&b->uart[1].lock);
	put_line(&b->uart[0], "other");
	mutex_unlock(&b->uart[1].lock);
}

static void lock_uart(struct uart *u) //~ clean
{
	mutex_lock(&u->lock);
}

static void unlock_uart(struct uart *u) //~ clean
{
	mutex_unlock(&u->lock);
}

static void lock_board(struct board *b) //~ clean
{
	lock_uart(&b->uart[0]);
	lock_uart(&b->uart[1]);
}

static void unlock_board(struct board *b) //~ clean
{
	unlock_uart(&b->uart[1]);
	unlock_uart(&b->uart[0]);
}

void board_reset(struct board *b) //~ clean
{
	lock_board(b);
	b->uart[0].shadow = b->uart[1].shadow = 0;
	unlock_board(b);
	put(&b->uart[0], 'r');
}

void board_reset_badly(struct board *b)
{
	lock_board(b);
	unlock_uart(&b->uart[0]);
	b->id++;
	unlock_board(b); //~ lock/double-unlock
}
