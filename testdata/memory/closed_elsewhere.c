/* A number that a callee closes and replaces is another one behind the call, however many cells the callee writes besides. */
#include <stdlib.h>
#include <unistd.h>

struct pack { char *name; int fd, flags; struct pack *next; };
struct store { struct pack *packs; int a, b, c; };
struct child { int in, out; unsigned close_store:1, quiet:1, other:1; char *dir; };

extern struct store *store;
extern int try_it(struct child *), report(int);
/* More cells than callers are told of, all of which are nearer than what is closed. */
#define EIGHT(a) a##0, a##1, a##2, a##3, a##4, a##5, a##6, a##7
#define COUNT(a, n) a##0 += n, a##1 += n, a##2 += n, a##3 += n, a##4 += n, a##5 += n, a##6 += n, a##7 += n
extern int EIGHT(a), EIGHT(b), EIGHT(c), EIGHT(d), EIGHT(e), EIGHT(f), EIGHT(g);

extern int m1, m2, m3, m4, m5, m6, m7, m8;

static void close_pack(struct pack *p)
{
	if (p->fd >= 0) {
		close(p->fd);
		p->fd = -1;
	}
	free(p->name);
	p->name = NULL;
}

static void close_store(struct store *s)
{
	struct pack *p;

	for (p = s->packs; p; p = p->next)
		close_pack(p);
}

int start(struct child *child)
{
	int r = try_it(child);

	if (child->in < 0 && !r)
		r = report(child->in);
	if (m1 > 3 && m2 < m3 && r)
		m4 = r;
	if (child->quiet && m5 == m6)
		m7 = r * m8;
	COUNT(a, 1), COUNT(b, r), COUNT(c, 2), COUNT(d, 1), COUNT(e, m1), COUNT(f, m2), COUNT(g, 3);
	if (r < 0)
		return -1;
	if (child->close_store)
		close_store(store);
	if (m5 > 4 && m3)
		m2 = m1 - r;
	if (child->dir && m8 != 5)
		return report(m4);
	return r > 3 ? m7 : 0;
}

int both(struct child *one, struct child *other) //~ clean
{
	if (start(one))
		return -1;
	return start(other);
}

static void leave_pack(struct pack *p)
{
	if (p->fd >= 0)
		close(p->fd);
}

void twice(struct store *s)
{
	leave_pack(s->packs);
	leave_pack(s->packs); //~ file/double-close
}
