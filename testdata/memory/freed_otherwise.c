/* What is no block of the heap is given to `free`: a stream, a directory, mapped memory. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static FILE *current;

static void drop_current(void)
{
	free(current);
}

void stream_freed(const char *path)
{
	current = fopen(path, "r");
	if (current)
		drop_current(); //~ heap/bad-free
}

int directory_freed(const char *path)
{
	DIR *directory = opendir(path);

	if (!directory)
		return -1;
	while (readdir(directory))
		;
	free(directory); //~ heap/bad-free
	closedir(directory);
	return 0;
}

int mapping_freed(size_t size)
{
	char *room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		return -1;
	room[0] = 1;
	free(room); //~ heap/bad-free
	munmap(room, size);
	return 0;
}

/* A block that leads to a stream is one. */
struct source { FILE *stream; int line; };

static struct source *source_of(const char *path)
{
	struct source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->stream = fopen(path, "r");
	if (!source->stream) {
		free(source);
		return NULL;
	}
	return source;
}

int source_freed(const char *path) //~ clean
{
	struct source *source = source_of(path);

	if (!source)
		return -1;
	fclose(source->stream);
	free(source);
	return 0;
}

/* One or the other. */
int buffer_or_mapping(size_t size, int mapped) //~ clean
{
	char *room = mapped ? mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : malloc(size);

	if (!room || room == MAP_FAILED)
		return -1;
	if (mapped)
		munmap(room, size);
	else
		free(room);
	return 0;
}
