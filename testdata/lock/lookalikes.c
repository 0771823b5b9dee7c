/* A program with its own functions under the primitives' names. */
struct cursor { int x, y; };

static int down(int n)
{
	return n - 1;
}

static int up(int n)
{
	return n + 1;
}

static void spin_lock(struct cursor *c)
{
	c->x = 0;
}

int steps(int n) //~ untouched
{
	n = down(n);
	n = down(n);
	return up(n);
}

void reset(struct cursor *c) //~ untouched
{
	spin_lock(c);
	spin_lock(c);
}
