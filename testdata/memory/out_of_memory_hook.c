/* A function that a pointer names is called because there is no memory: it is not meant to come back. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void complain(size_t size)
{
	fprintf(stderr, "no memory for %zu bytes\n", size);
	abort();
}

static void (*out_of_memory)(size_t) = complain;

void set_out_of_memory(void (*hook)(size_t))
{
	out_of_memory = hook;
}

static void *try_allocate(size_t size)
{
	size_t *block;

	if (size >= SIZE_MAX / 2)
		return NULL;
	block = malloc(size + sizeof(size_t));
	if (!block)
		return NULL;
	*block = size;
	return block;
}

void *allocate(size_t size)
{
	void *block = try_allocate(size);

	if (!block)
		out_of_memory(size);
	return block;
}

static char *copy(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copied = allocate(size);

	memcpy(copied, text, size);
	return copied;
}

size_t bars_in(const char *text) //~ clean
{
	char *copied = copy(text);
	char *bar = strchr(copied, '|');
	size_t count = 0;

	for (; bar; bar = strchr(bar + 1, '|'))
		count++;
	free(copied);
	return count;
}

size_t tried(const char *text)
{
	char *copied = try_allocate(strlen(text) + 1);
	size_t size;

	strcpy(copied, text); //~ null/unchecked-result
	size = strlen(copied);
	free(copied);
	return size;
}
