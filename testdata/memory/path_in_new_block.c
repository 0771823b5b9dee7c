// A path that a function puts in a new block where the caller gives no room for it.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *writable(const char *name) //~ clean
{
	char *path = realpath(name, NULL);

	if (!path)
		return NULL;
	if (access(path, W_OK) != 0) {
		free(path);
		return NULL;
	}
	return path;
}

char *writable_badly(const char *name)
{
	char *path = realpath(name, NULL); //~ heap/leak

	if (!path)
		return NULL;
	if (access(path, W_OK) != 0)
		return NULL;
	return path;
}

int is_below_root(const char *name) //~ clean
{
	char room[PATH_MAX];

	return realpath(name, room) && strchr(room + 1, '/') != NULL;
}

int is_root(const char *name)
{
	return realpath(name, NULL)[1] == 0; //~ heap/leak //~ null/unchecked-result
}

size_t path_length(void) //~ clean
{
	char room[PATH_MAX];
	char *path = getcwd(room, sizeof room);

	return path ? strlen(path) : 0;
}

size_t lost_path_length(void)
{
	char *path = getcwd(NULL, 0); //~ heap/leak

	return path ? strlen(path) : 0;
}

char *with_slash(char *path)
{
	char *longer = realloc(path, strlen(path) + 2);

	if (!longer)
		exit(1);
	return strcat(longer, "/");
}

static char *full_path(const char *name)
{
	char *path = realpath(name, NULL);

	if (path && path[1])
		path = with_slash(path);
	return path;
}

char *writable_folder(const char *name)
{
	char *path = full_path(name); //~ heap/leak

	if (!path)
		return NULL;
	if (access(path, W_OK) != 0)
		return NULL;
	return path;
}

int freed_by_result(const char *name) //~ clean
{
	char *room = malloc(PATH_MAX), *path;

	if (!room)
		return -1;
	path = realpath(name, room);
	if (!path) {
		free(room);
		return -1;
	}
	puts(path);
	free(path);
	return 0;
}

int freed_where_it_fails(const char *name)
{
	char *room = malloc(PATH_MAX), *path; //~ heap/leak

	if (!room)
		return -1;
	path = realpath(name, room);
	if (!path) {
		free(room);
		return -1;
	}
	puts(path);
	return 0;
}

// As `_PC_PATH_MAX` has it: there may be no greatest length.
int freed_in_either_case(const char *name, int most) //~ clean
{
	char *room = NULL, *path;

	if (most > 0) {
		room = malloc(most);
		if (!room)
			return -1;
	}
	path = realpath(name, room);
	if (!path) {
		free(room);
		return -1;
	}
	puts(path);
	free(path);
	return 0;
}

int freed_twice(const char *name)
{
	char *room = malloc(PATH_MAX), *path;

	if (!room)
		return -1;
	path = realpath(name, room);
	if (path)
		puts(path);
	free(room);
	free(path); //~ heap/double-free
	return 0;
}
