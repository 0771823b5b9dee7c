/* What a callee leaves behind a pointer of its caller's where it fails: its result says whether a block is there, and so does its summary. That the callee
   does not fail in the one way that leaves the block is a specification which leaves no code dead: the default filter excludes the leak (`--filter a1`). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct device {
	const char *path;
	unsigned char *buffer;
	int descriptor;
};

struct owner {
	char *name;
	int *record;
};

int answers(int descriptor);

static int probe_and_forget(struct device *device)
{
	int error = -ENOMEM;

	device->descriptor = open(device->path, O_RDWR);
	if (device->descriptor < 0)
		return -errno;
	device->buffer = malloc(512);
	if (device->buffer == NULL)
		goto close_it;
	error = -EIO;
	if (!answers(device->descriptor))
		goto close_it;
	return 0;

close_it:
	close(device->descriptor);
	return error;
}

static int probe(struct device *device)
{
	int error = -ENOMEM;

	device->descriptor = open(device->path, O_RDWR);
	if (device->descriptor < 0)
		return -errno;
	device->buffer = malloc(512);
	if (device->buffer == NULL)
		goto close_it;
	error = -EIO;
	if (!answers(device->descriptor))
		goto free_it;
	return 0;

free_it:
	free(device->buffer);
close_it:
	close(device->descriptor);
	return error;
}

/* The buffer is made first. */
static int probe_late(struct device *device)
{
	device->buffer = malloc(512);
	if (device->buffer == NULL)
		return -ENOMEM;
	device->descriptor = open(device->path, O_RDWR);
	if (device->descriptor < 0)
		return -EIO;
	printf("%s answers\n", device->path);
	return 0;
}

struct device *device_that_leaks(const char *path)
{
	struct device *device = calloc(1, sizeof(*device));

	if (device == NULL)
		return NULL;
	device->path = path;
	if (probe_and_forget(device) < 0) { //~ heap/leak
		free(device);
		return NULL;
	}
	return device;
}

struct device *device(const char *path) //~ clean
{
	struct device *device = calloc(1, sizeof(*device));

	if (device == NULL)
		return NULL;
	device->path = path;
	if (probe(device) < 0) {
		free(device);
		return NULL;
	}
	return device;
}

struct device *late_device(const char *path)
{
	struct device *device = calloc(1, sizeof(*device));

	if (device == NULL)
		return NULL;
	device->path = path;
	if (probe_late(device) < 0) { //~ heap/leak
		free(device);
		return NULL;
	}
	return device;
}

static void make(struct owner **result)
{
	struct owner *made = calloc(1, sizeof(*made));

	if (made == NULL)
		exit(1);
	made->name = strdup("aldgate");
	if (made->name == NULL)
		exit(1);
	puts("made");
	puts("an");
	puts("owner");
	*result = made;
}

void loses_name(void)
{
	struct owner *owner = NULL;

	make(&owner); //~ heap/leak
	free(owner);
}

void frees_both(void) //~ clean
{
	struct owner *owner = NULL;

	make(&owner);
	free(owner->name);
	free(owner);
}

/* The callee frees what it finds in a record, and not all of it. */
struct box {
	int number;
	struct owner *owner;
};

static void empty_in_part(struct box *box)
{
	free(box->owner->name);
	free(box->owner);
	puts("the");
	puts("box");
	puts("is");
	puts("empty");
}

static void empty(struct box *box)
{
	free(box->owner->name);
	free(box->owner->record);
	free(box->owner);
	puts("the");
	puts("box");
	puts("is");
	puts("empty");
}

void box_that_leaks(void)
{
	struct owner *owner = calloc(1, sizeof(*owner));
	struct box box = {1, owner};

	if (owner == NULL)
		return;
	owner->record = malloc(sizeof(int)); //~ heap/leak
	if (owner->record != NULL)
		*owner->record = 2;
	empty_in_part(&box);
}

void box(void) //~ clean
{
	struct owner *owner = calloc(1, sizeof(*owner));
	struct box box = {1, owner};

	if (owner == NULL)
		return;
	owner->record = malloc(sizeof(int));
	if (owner->record != NULL)
		*owner->record = 2;
	empty(&box);
}

/* Only the world outside decides whether the callee frees it: memory has run out. */
static void grow_and_forget(char *text)
{
	text = realloc(text, 100000);
	if (text == NULL)
		return;
	puts(text);
	puts("has");
	puts("room");
	puts("for");
	puts("more");
	free(text);
}

static void grow(char *text)
{
	char *grown = realloc(text, 100000);

	if (grown == NULL) {
		free(text);
		return;
	}
	puts(grown);
	puts("has");
	puts("room");
	puts("for");
	puts("more");
	free(grown);
}

void text_that_leaks(void)
{
	char *text = strdup("northern line"); //~ heap/leak

	if (text != NULL)
		grow_and_forget(text);
}

void text(void) //~ clean
{
	char *text = strdup("northern line");

	if (text != NULL)
		grow(text);
}

/* A function that always returns null. */
int *nothing(void)
{
	puts("there");
	puts("is");
	puts("nothing");
	puts("here");
	return NULL;
}

int follows_nothing(void)
{
	int *number = nothing();

	return *number; //~ null/dereference
}

int follows_nothing_not(void) //~ clean
{
	int *number = nothing();

	return number ? *number : 0;
}
