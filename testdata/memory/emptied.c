/* What a callee has compared on its way out, callers know: that a list is empty, or a stack. */
#include <stddef.h>
#include <stdlib.h>

struct link {
	struct link *next, *prev;
};

struct item {
	int value;
	struct link link;
};

#define ITEM(l) ((struct item *)((char *)(l) - offsetof(struct item, link)))

struct link *behind(struct link *first);

static void take_first(struct link *head)
{
	head->next = behind(head->next);
}

static void wait_until_empty(struct link *head)
{
	while (head->next != head)
		take_first(head);
}

int frees_first_of_none(struct link *head) //~ clean
{
	wait_until_empty(head);
	if (head->next != head)
		free(ITEM(head->next));
	return ITEM(head->next)->value;
}

struct stack {
	struct item *first;
	int count;
};

struct item *next_of(struct item *item);

static void pop(struct stack *s)
{
	struct item *first = s->first;

	s->first = next_of(first);
	free(first);
}

static void clear(struct stack *s)
{
	while (s->first)
		pop(s);
}

int cleared_twice(struct stack *s) //~ clean
{
	clear(s);
	s->count = 0;
	clear(s);
	return s->count;
}

int first_of_none(struct stack *s)
{
	clear(s);
	return s->first->value; //~ certain null/dereference
}

int first_of_one(struct stack *s, struct item *item) //~ clean
{
	clear(s);
	s->first = item;
	return s->first->value;
}
