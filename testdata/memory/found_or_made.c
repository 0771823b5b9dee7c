// What is found in a table, or else made, is null where the making has failed.
#include <stdlib.h>

struct state {
	int number;
	struct state *next;
};

static struct state *table[16];

static struct state *new_state(int number)
{
	struct state *made = calloc(1, sizeof *made);

	if (!made)
		return NULL;
	made->number = number;
	return made;
}

static struct state *get_state(int number)
{
	struct state *state;

	for (state = table[number & 15]; state; state = state->next)
		if (state->number == number)
			return state;
	state = new_state(number);
	if (state) {
		state->next = table[number & 15];
		table[number & 15] = state;
	}
	return state;
}

int number_of(int number) //~ clean
{
	struct state *state = get_state(number);

	return state ? state->number : -1;
}

int number_of_badly(int number)
{
	return get_state(number)->number; //~ null/unchecked-result
}

// Null for an argument of one kind the caller may know that it does not have; but not for want of memory.
struct set {
	int allocated, count;
};

static struct state *state_of(const struct set *nodes)
{
	if (nodes->count == 0)
		return NULL;
	return table[nodes->count & 15] ? table[nodes->count & 15] : new_state(nodes->count);
}

static struct state *state_or_error(int *error, const struct set *nodes)
{
	struct state *state;

	*error = 0;
	if (nodes->count == 0)
		return NULL;
	state = new_state(nodes->count);
	if (!state)
		*error = 12;
	return state;
}

int number_of_set(const struct set *nodes)
{
	return state_of(nodes)->number; //~ null/unchecked-result //~ heap/leak
}

int number_or_error(const struct set *nodes)
{
	int error;
	struct state *state = state_or_error(&error, nodes);
	int number;

	if (error)
		return error;
	number = state->number; //~ known-false-positive null/dereference
	free(state);
	return number;
}
