/* A block that cannot be enlarged is still there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text_of(const char *from, size_t count)
{
	char *text = malloc(count + 1);

	if (!text)
		return NULL;
	for (size_t i = 0; i < count; i++)
		text[i] = from[i];
	text[count] = 0;
	return text;
}

int lost_where_not_enlarged(const char *from, size_t count)
{
	char *text = text_of(from, count); //~ heap/leak

	if (!text)
		return -1;
	text = realloc(text, count + 100);
	if (!text)
		return -1;
	strcat(text, "...");
	puts(text);
	free(text);
	return 0;
}

int freed_where_not_enlarged(const char *from, size_t count) //~ clean
{
	char *text = text_of(from, count);
	char *more;

	if (!text)
		return -1;
	more = realloc(text, count + 100);
	if (!more) {
		free(text);
		return -1;
	}
	strcat(more, "...");
	puts(more);
	free(more);
	return 0;
}
