/* Calls through variables that hold functions: an allocator that a program may replace, a handler that does not come back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void give_up(size_t bytes)
{
	fprintf(stderr, "%zu bytes are too many\n", bytes);
	abort();
}

static void *(*block_of)(size_t) = malloc;
static void (*block_back)(void *) = free;
static void (*no_memory)(size_t) = give_up;

void replace_allocator(void *(*allocate)(size_t), void (*release)(void *))
{
	block_of = allocate;
	block_back = release;
}

void replace_handler(void (*handler)(size_t))
{
	no_memory = handler;
}

int freed_through_variable(const char *text) //~ clean
{
	char *copy = block_of(strlen(text) + 1);

	if (!copy)
		return -1;
	strcpy(copy, text);
	puts(copy);
	(*block_back)(copy);
	return 0;
}

int lost_through_variable(const char *text)
{
	char *copy = block_of(strlen(text) + 1); //~ heap/leak

	if (!copy)
		return -1;
	strcpy(copy, text);
	if (copy[0] == '#')
		return 1;
	block_back(copy);
	return 0;
}

int freed_twice_through_variable(const char *text)
{
	char *copy = block_of(strlen(text) + 1);

	if (!copy)
		return -1;
	strcpy(copy, text);
	if (copy[0] == '#')
		block_back(copy);
	block_back(copy); //~ heap/double-free
	return 0;
}

/* The handler is not to come back, whatever takes its place. */
void *needed_block(size_t bytes)
{
	void *block = malloc(bytes);

	if (!block)
		no_memory(bytes);
	return block;
}

char *needed_copy(const char *text) //~ clean
{
	char *copy = needed_block(strlen(text) + 1);

	return strcpy(copy, text);
}

/* What takes the place of a function that does nothing may do anything. */
static void nothing_to_do(char *block)
{
	(void)block;
}

static void (*on_block)(char *) = nothing_to_do;

void replace_nothing(void (*handler)(char *))
{
	on_block = handler;
}

void handed_to_variable(void) //~ clean
{
	char *block = malloc(10);

	if (block)
		on_block(block);
}

/* Nothing else is ever there. */
static void (*on_other)(char *) = nothing_to_do;

void forget_other(void)
{
	on_other = NULL;
}

void lost_to_variable(void)
{
	char *block = malloc(10); //~ heap/leak

	if (block && on_other)
		on_other(block);
}
