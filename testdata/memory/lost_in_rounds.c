/* One way out loses one block or another, by the round in which it is taken: what excludes one of them alone leaves the way alive. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int put(int fd, const char *text);

int grows_and_loses(int fd, const char *format, ...)
{
	va_list ap;
	size_t size = 100;
	char *text = malloc(size); //~ heap/leak
	char *more;
	int n, result;

	if (!text)
		return -1;
	for (;;) {
		va_start(ap, format);
		n = vsnprintf(text, size, format, ap);
		va_end(ap);
		if (n > -1 && (size_t)n < size)
			break;
		size = n > -1 ? (size_t)n + 1 : size * 2;
		more = realloc(text, size); //~ heap/leak
		if (!more)
			return -1;
		text = more;
	}
	result = put(fd, text);
	free(text);
	return result;
}

int grows(int fd, const char *format, ...) //~ clean
{
	va_list ap;
	size_t size = 100;
	char *text = malloc(size);
	char *more;
	int n, result;

	if (!text)
		return -1;
	for (;;) {
		va_start(ap, format);
		n = vsnprintf(text, size, format, ap);
		va_end(ap);
		if (n > -1 && (size_t)n < size)
			break;
		size = n > -1 ? (size_t)n + 1 : size * 2;
		more = realloc(text, size);
		if (!more) {
			free(text);
			return -1;
		}
		text = more;
	}
	result = put(fd, text);
	free(text);
	return result;
}

char *read_and_lost(const char *path)
{
	ssize_t n, size = 64;
	char *text;

	for (;;) {
		text = malloc(size); //~ heap/leak
		if (!text)
			exit(1);
		n = readlink(path, text, size);
		if (n == -1) {
			if (errno == EINVAL || errno == ENOENT)
				return NULL;
			exit(1);
		} else if (n < size - 1) {
			text[n] = 0;
			return text;
		}
		size += 64;
		free(text);
	}
}

char *read_whole(const char *path) //~ clean
{
	ssize_t n, size = 64;
	char *text;

	for (;;) {
		text = malloc(size);
		if (!text)
			exit(1);
		n = readlink(path, text, size);
		if (n == -1) {
			free(text);
			if (errno == EINVAL || errno == ENOENT)
				return NULL;
			exit(1);
		} else if (n < size - 1) {
			text[n] = 0;
			return text;
		}
		size += 64;
		free(text);
	}
}
