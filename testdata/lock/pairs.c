/* Two operations of one table, between which a lock is kept if a command says so. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct command { unsigned flags; int id; };
struct family {
	int (*before)(const struct command *);
	void (*after)(const struct command *);
	int (*look)(const struct command *);
};
static struct mutex all, some;
static const unsigned flags_of[4] = { 1, 2, 3, 0 };

static int before(const struct command *c)
{
	unsigned flags = flags_of[c->flags & 3];

	mutex_lock(&all);
	if (c->id < 0) {
		mutex_unlock(&all);
		return -1;
	}
	if (!(flags & 1))
		mutex_unlock(&all);
	return 0; //~ known-false-positive note lock/inconsistent-exit
}

static void after(const struct command *c) //~ clean
{
	if (flags_of[c->flags & 3] & 1)
		mutex_unlock(&all);
}

/* Nobody gives this one back. */
static int look(const struct command *c)
{
	unsigned flags = flags_of[c->flags & 3];

	mutex_lock(&some);
	if (c->id < 0) {
		mutex_unlock(&some);
		return -1;
	}
	if (!(flags & 1))
		mutex_unlock(&some);
	return 0; //~ certain lock/inconsistent-exit
}

const struct family family = { before, after, look };

/* That one function calls both through the table makes them no less a pair. */
int work(const struct command *c);

int run(const struct family *f, const struct command *c) //~ clean
{
	int ret = f->before(c);

	if (ret)
		return ret;
	ret = work(c);
	f->after(c);
	return ret;
}
