/* POSIX mutexes in different orders: globals, and a lock known only to the callee. */
#include <pthread.h>

static pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t stats = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t names = PTHREAD_MUTEX_INITIALIZER;
static int balance, lines, hits;

struct session { int id; pthread_mutex_t lock; };
struct session *find(int id);

void deposit(int n) //~ clean
{
	pthread_mutex_lock(&accounts);
	pthread_mutex_lock(&journal);
	balance += n;
	lines++;
	pthread_mutex_unlock(&journal);
	pthread_mutex_unlock(&accounts);
}

void withdraw(int n) //~ clean
{
	pthread_mutex_lock(&accounts);
	pthread_mutex_lock(&journal);
	balance -= n;
	lines++;
	pthread_mutex_unlock(&journal);
	pthread_mutex_unlock(&accounts);
}

int audit(void)
{
	int sum;

	pthread_mutex_lock(&journal);
	pthread_mutex_lock(&accounts); //~ lock/order
	sum = balance + lines;
	pthread_mutex_unlock(&accounts);
	pthread_mutex_unlock(&journal);
	return sum;
}

/* Its caller has no name for the session. */
static void touch(int id) //~ clean
{
	struct session *s = find(id);

	pthread_mutex_lock(&s->lock);
	s->id++;
	pthread_mutex_unlock(&s->lock);
}

static void touch_both(int id) //~ untouched
{
	touch(id);
	touch(id + 1);
}

void report(int id) //~ clean
{
	pthread_mutex_lock(&stats);
	touch_both(id);
	hits++;
	pthread_mutex_unlock(&stats);
}

void report_again(int id) //~ clean
{
	pthread_mutex_lock(&stats);
	touch(id);
	pthread_mutex_unlock(&stats);
}

void count(struct session *s)
{
	pthread_mutex_lock(&s->lock);
	pthread_mutex_lock(&stats); //~ lock/order
	hits += s->id;
	pthread_mutex_unlock(&stats);
	pthread_mutex_unlock(&s->lock);
}

/* The callee gives up what its caller holds before it takes the session's. */
static void touch_unlocked(int id) //~ clean
{
	pthread_mutex_unlock(&names);
	touch(id);
	pthread_mutex_lock(&names);
}

void rename_one(int id) //~ clean
{
	pthread_mutex_lock(&names);
	touch_unlocked(id);
	pthread_mutex_unlock(&names);
}

void name(struct session *s) //~ clean
{
	pthread_mutex_lock(&s->lock);
	pthread_mutex_lock(&names);
	s->id++;
	pthread_mutex_unlock(&names);
	pthread_mutex_unlock(&s->lock);
}

/* Helpers that take their lock on every path are as certain as taking it. */
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static int lefts, rights;

static void count_left(int n) //~ clean
{
	pthread_mutex_lock(&left);
	lefts += n;
	if (lefts > 100)
		lefts = 0;
	pthread_mutex_unlock(&left);
}

static void count_right(int n) //~ clean
{
	pthread_mutex_lock(&right);
	rights += n;
	if (rights > 100)
		rights = 0;
	pthread_mutex_unlock(&right);
}

void left_first(void)
{
	pthread_mutex_lock(&left);
	count_right(lefts); //~ certain lock/order
	pthread_mutex_unlock(&left);
}

void right_first(void)
{
	pthread_mutex_lock(&right);
	count_left(rights);
	pthread_mutex_unlock(&right);
}

/* One that takes its lock at times may not where the other is held. */
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static int inners, outers;
int is_due(void);

static void count_inner(void) //~ clean
{
	if (inners && is_due()) {
		pthread_mutex_lock(&inner);
		inners++;
		pthread_mutex_unlock(&inner);
	}
}

void outer_first(void)
{
	pthread_mutex_lock(&outer);
	count_inner();
	pthread_mutex_unlock(&outer);
}

void inner_first(void)
{
	pthread_mutex_lock(&inner);
	pthread_mutex_lock(&outer); //~ note lock/order
	outers++;
	pthread_mutex_unlock(&outer);
	pthread_mutex_unlock(&inner);
}

/* Of two pairs of functions in the wrong order the one is shown that says most. */
static pthread_mutex_t upper = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lower = PTHREAD_MUTEX_INITIALIZER;
static int lowers;

static void count_lower(void) //~ clean
{
	if (lowers && is_due()) {
		pthread_mutex_lock(&lower);
		lowers++;
		pthread_mutex_unlock(&lower);
	}
}

void a_upper_perhaps(void)
{
	pthread_mutex_lock(&upper);
	count_lower();
	pthread_mutex_unlock(&upper);
}

void b_upper_first(void)
{
	pthread_mutex_lock(&upper);
	pthread_mutex_lock(&lower);
	lowers++;
	pthread_mutex_unlock(&lower);
	pthread_mutex_unlock(&upper);
}

void lower_first(void)
{
	pthread_mutex_lock(&lower);
	pthread_mutex_lock(&upper); //~ certain lock/order
	lowers++;
	pthread_mutex_unlock(&upper);
	pthread_mutex_unlock(&lower);
}

/* A kind of record that there are many of, each with its lock: trees. What a global pointer leads to is one of its own. */
struct tree { pthread_mutex_t lock; int count; };
struct source { struct tree *pending, *clients; };
static struct tree *all_sources;
static pthread_mutex_t moves = PTHREAD_MUTEX_INITIALIZER;

void move_clients(struct source *to)
{
	pthread_mutex_lock(&moves);
	pthread_mutex_lock(&to->pending->lock); //~ note lock/order
	to->pending->count++;
	pthread_mutex_unlock(&to->pending->lock);
	pthread_mutex_unlock(&moves);
}

void start_relay(struct source *to)
{
	pthread_mutex_lock(&all_sources->lock);
	if (all_sources->count)
		move_clients(to);
	pthread_mutex_unlock(&all_sources->lock);
}

/* The same member's tree each time. */
struct relay { struct queue *jobs; };
struct queue { pthread_mutex_t lock; int count; };
static pthread_mutex_t relays = PTHREAD_MUTEX_INITIALIZER;

void queue_job(struct relay *relay)
{
	pthread_mutex_lock(&relays);
	pthread_mutex_lock(&relay->jobs->lock); //~ certain lock/order
	relay->jobs->count++;
	pthread_mutex_unlock(&relay->jobs->lock);
	pthread_mutex_unlock(&relays);
}

void drop_job(struct relay *relay)
{
	pthread_mutex_lock(&relay->jobs->lock);
	pthread_mutex_lock(&relays);
	relay->jobs->count--;
	pthread_mutex_unlock(&relays);
	pthread_mutex_unlock(&relay->jobs->lock);
}

/* A parent's lock is held while its children's are taken one by one: of one record the order is the other way round, and no record is
   its own child. */
struct domain {
	pthread_mutex_t lock, children_lock;
	struct domain *first, *next;
	int dirty;
};

void mark_children(struct domain *parent)
{
	struct domain *child;

	pthread_mutex_lock(&parent->children_lock);
	for (child = parent->first; child; child = child->next) {
		pthread_mutex_lock(&child->lock); //~ note lock/order
		child->dirty = 1;
		pthread_mutex_unlock(&child->lock);
	}
	pthread_mutex_unlock(&parent->children_lock);
}

void mark(struct domain *d)
{
	pthread_mutex_lock(&d->lock);
	d->dirty = 1;
	pthread_mutex_lock(&d->children_lock);
	pthread_mutex_unlock(&d->children_lock);
	pthread_mutex_unlock(&d->lock);
}
