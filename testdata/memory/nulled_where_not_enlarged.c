/* The only pointer to a block is overwritten with the null that `realloc` returns. */
#include <stdlib.h>
#include <string.h>

struct buffer { char *bytes; size_t length, room; };

int appended(struct buffer *buffer, const char *text)
{
	size_t more = strlen(text);

	if (buffer->length + more + 1 > buffer->room) {
		buffer->room = 2 * (buffer->length + more + 1);
		buffer->bytes = realloc(buffer->bytes, buffer->room); //~ heap/leak
		if (!buffer->bytes)
			return -1;
	}
	memcpy(buffer->bytes + buffer->length, text, more + 1);
	buffer->length += more;
	return 0;
}

int appended_to_kept(struct buffer *buffer, const char *text) //~ clean
{
	size_t more = strlen(text);

	if (buffer->length + more + 1 > buffer->room) {
		char *bytes = realloc(buffer->bytes, 2 * (buffer->length + more + 1));

		if (!bytes)
			return -1;
		buffer->bytes = bytes;
		buffer->room = 2 * (buffer->length + more + 1);
	}
	memcpy(buffer->bytes + buffer->length, text, more + 1);
	buffer->length += more;
	return 0;
}

int appended_or_emptied(struct buffer *buffer, size_t room) //~ clean
{
	char *before = buffer->bytes;

	buffer->bytes = realloc(buffer->bytes, room);
	if (!buffer->bytes) {
		free(before);
		buffer->length = 0;
		return -1;
	}
	buffer->room = room;
	return 0;
}

int appended_or_as_before(struct buffer *buffer, size_t room) //~ clean
{
	char *before = buffer->bytes;

	buffer->bytes = realloc(buffer->bytes, room);
	if (!buffer->bytes) {
		buffer->bytes = before;
		return -1;
	}
	buffer->room = room;
	return 0;
}

/* There is no way back. */
void appended_or_ended(struct buffer *buffer, size_t room) //~ clean
{
	buffer->bytes = realloc(buffer->bytes, room);
	if (!buffer->bytes)
		exit(1);
	buffer->room = room;
}

static char *line;

char *line_of(size_t room)
{
	line = realloc(line, room); //~ heap/leak
	return line;
}

/* The caller still has the pointer. */
char *enlarged_argument(char *text, size_t room) //~ clean
{
	text = realloc(text, room);
	return text;
}
