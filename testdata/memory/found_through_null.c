/* What would be found through a null pointer is nothing: a callee that gets one does nothing with it. */
#include <stdlib.h>

struct meter { char *text; int wanted, split; };
struct work { struct meter *meter; char *name; };

extern int flags, level, limit, quiet, colour, width, height, style, order, mode;
extern void show(const char *, int);

static struct work *current;

/* Frees what it is passed, if it is passed anything, and says so where it has been found. Why it does is too much to be told. */
void stop(struct work **place)
{
	struct work *work = *place;

	if (!work)
		return;
	*place = NULL;
	if (flags && level > 3 && limit < 7)
		show(work->name, quiet);
	if ((colour && width > 80) || height == style) {
		show("done", order);
		if (mode & 4)
			return;
	}
	if (work->meter)
		free(work->meter->text);
	free(work->meter);
	free(work);
}

void twice(void) //~ clean
{
	stop(&current);
	show("stopped", 1);
	stop(&current);
}

void perhaps(int early) //~ clean
{
	if (early)
		stop(&current);
	show("stopped", 1);
	stop(&current);
}

void kept(void)
{
	struct work *work = current;

	stop(&current);
	show("stopped", 1);
	current = work;
	stop(&current); //~ note heap/use-after-free
}
