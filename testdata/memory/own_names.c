/* Functions of a program's own that have the names of a kernel's: callers go by what they do. */
#include <stdlib.h>

struct entry { struct entry *next; };
struct argv { size_t capacity; char **argv; struct entry *list; };

static void argv_init(struct argv *a)
{
	a->capacity = 0;
	a->argv = NULL;
	a->list = NULL;
}

void argv_free(struct argv *a) //~ clean
{
	struct entry *entry = a->list;
	a->list = NULL;
	while (entry) {
		struct entry *next = entry->next;
		free(entry);
		entry = next;
	}
}

int run(int n) //~ clean
{
	struct argv argv;
	argv_init(&argv);
	argv_free(&argv);
	return n;
}

void kfree(int *counter) //~ clean
{
	++*counter;
}

int count(void) //~ clean
{
	int n = 0;
	kfree(&n);
	kfree(&n);
	return n;
}
