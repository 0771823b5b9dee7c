/* Functions that are not in the tree may set what they get a pointer to. */
#include <assert.h>
#include <stdlib.h>

struct text { int length; char *bytes; };
struct page { struct text *text; int width; };

extern void fill(struct text *);
extern int try_fill(struct text *);
extern void say(const char *);
extern void look_at(int);

extern char *shared;
static char *own;
extern void set_up(void);

void filled(struct text *t) //~ clean
{
	if (!t->bytes)
		fill(t);
	*t->bytes = 'x';
}

void filled_or_failed(struct text *t) //~ clean
{
	if (!t->bytes && try_fill(t) < 0)
		return;
	*t->bytes = 'x';
}

static void fill_it(struct text *t)
{
	say("filling");
	fill(t);
}

void filled_by_own(struct page *p) //~ clean
{
	if (!p->text->bytes)
		fill_it(p->text);
	*p->text->bytes = 'x';
}

void set_up_first(void) //~ clean
{
	if (!shared)
		set_up();
	*shared = 'x';
}

void not_filled(struct text *t)
{
	if (!t->bytes)
		say("no bytes");
	*t->bytes = 'x'; //~ null/dereference
}

void not_filled_either(struct text *t)
{
	if (!t->bytes)
		look_at(t->length);
	*t->bytes = 'x'; //~ null/dereference
}

void asked_behind(struct text *t)
{
	fill(t);
	if (!t->bytes)
		say("still no bytes");
	*t->bytes = 'x'; //~ null/dereference
}

void own_is_not_set(void)
{
	if (!own)
		set_up();
	*own = 'x'; //~ null/dereference
}

static void first(struct text *t)
{
	fill(t);
	*t->bytes = 'x';
}

void filled_in_callee(struct text *t) //~ clean
{
	if (!t->bytes)
		first(t);
}

static void second(struct text *t)
{
	say("writing");
	*t->bytes = 'x';
}

void not_filled_in_callee(struct text *t)
{
	if (!t->bytes)
		second(t); //~ null/dereference
}

void counted(struct text *t) //~ clean
{
	if (!t->length) {
		fill(t);
		assert(t->length);
	}
}

void not_counted(struct text *t)
{
	if (!t->length) {
		say("empty");
		assert(t->length); //~ note assert/failure
	}
}

static void again(struct text *t)
{
	fill(t);
	free(t->bytes);
}

void freed_and_filled(struct text *t)
{
	free(t->bytes);
	again(t); //~ note heap/double-free
}
