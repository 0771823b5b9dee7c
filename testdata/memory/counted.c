/* A block whose count says that others hold it is not lost, where the function gives its own hold up. */
#include <stdio.h>
#include <stdlib.h>

struct buffer { int refs; int bad; char data[32]; };

static int refs_drop(int *refs)
{
	return --*refs;
}

struct buffer *buffer_read(FILE *file)
{
	struct buffer *b = malloc(sizeof(*b));
	if (!b)
		abort();
	if (fread(b, sizeof(*b), 1, file) != 1)
		abort();
	return b;
}

int use_counted(FILE *file)
{
	struct buffer *b = buffer_read(file); //~ known-false-positive note heap/leak
	int bad = b->bad;
	if (refs_drop(&b->refs) > 0)
		return bad;
	free(b);
	return bad;
}

/* That the block says something else of itself is no hold. */
int use_bad(FILE *file)
{
	struct buffer *b = buffer_read(file); //~ heap/leak
	if (b->bad)
		return -1;
	free(b);
	return 0;
}
