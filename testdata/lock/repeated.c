/* A function that gives back what nobody has taken, and callers that call it more than once. */
struct rw_semaphore { int v; };
void down_read(struct rw_semaphore *s);
void up_read(struct rw_semaphore *s);
struct bus { struct bus *next; int n; };
static struct bus *first;
static struct rw_semaphore buses, others;

struct bus *find_next(const struct bus *from) //~ clean
{
	struct bus *b;

	down_read(&others);
	b = from ? from->next : first;
	up_read(&others);
	return b;
}

struct bus *find_next_badly(const struct bus *from)
{
	struct bus *b;

	b = from ? from->next : first;
	up_read(&buses); //~ lock/unlock-unheld @find_next_badly
	return b;
}

struct bus *find(int n) //~ clean
{
	struct bus *b = 0;

	while ((b = find_next(b)))
		if (b->n == n)
			return b;
	return 0;
}

struct bus *find_badly(int n)
{
	struct bus *b = 0;

	while ((b = find_next_badly(b)))
		if (b->n == n)
			return b;
	return 0;
}

/* A caller that takes it each time does its part. */
static struct rw_semaphore held;

static int count_held(void) //~ clean
{
	int n = first ? first->n : 0;

	up_read(&held);
	return n;
}

int count_twice(void) //~ clean
{
	int n;

	down_read(&held);
	n = count_held();
	down_read(&held);
	return n + count_held();
}
