// A function that ends the program unless what lies in memory is what it was called for.
#include <stdlib.h>
#include <string.h>

enum kind { ADD, ENTER };

struct undo {
	enum kind kind;
	char *text;
};

static struct undo *top;

static void die(const char *why)
{
	exit(why[0]);
}

static void update(enum kind kind)
{
	struct undo *undo = top;

	if (undo->kind != kind)
		die("another kind");
	switch (undo->kind) {
	case ADD:
		undo->text = realloc(undo->text, 10);
		if (!undo->text)
			abort();
		break;
	case ENTER:
		undo->text = strdup("new");
		break;
	}
}

void enter_again(void) //~ clean
{
	free(top->text);
	update(ENTER);
}

void add_again(void)
{
	free(top->text);
	update(ADD); //~ heap/double-free
}

void set_top(struct undo *undo)
{
	top = undo;
}
