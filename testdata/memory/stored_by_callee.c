/* What a callee stores through a pointer that a block holds does not lie where the pointer to that block is: the members have other names in other
 * records. */
#include <stdlib.h>

struct store { long limit; void *unused; int keeps; };
struct parser { struct store *store; struct program *program; int labels; char *label; };
struct program { struct store *store; struct parser *parser; int size; };

static void drop(struct store *store, void *p)
{
	store->unused = p;
	if (!store->keeps)
		free(p);
}

static void more_labels(struct parser *p)
{
	char *labels = malloc(40);

	if (!labels)
		drop(p->store, p->label);
	p->label = labels;
}

void resolve(struct program *program)
{
	struct parser *p = program->parser;

	if (p->labels < 0)
		more_labels(p);
}

static long limit_of(struct program *program)
{
	return program->parser->store->limit;
}

long resolved(struct parser *parser) //~ clean
{
	struct program *program = parser->program;

	resolve(program);
	return limit_of(program);
}

char resolved_too_late(struct parser *parser)
{
	char *label = parser->label;

	parser->store->keeps = 0;
	drop(parser->store, label);
	return *label; //~ heap/use-after-free
}
