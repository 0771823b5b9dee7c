/* What is freed here is gone, whatever callees do of which too little is known. */
#include <stdlib.h>
#include <string.h>

struct node { struct node *next; char *text; };
char *find_text(int key);
int checksum(const char *text);

/* Frees something for which its callers have no name. */
void drop_text(int key) //~ clean
{
	free(find_text(key));
}

int freed_twice(int key)
{
	char *copy = strdup("a copy");
	int sum;

	if (!copy)
		return -1;
	drop_text(key);
	sum = checksum(copy);
	free(copy);
	free(copy); //~ certain heap/double-free
	return sum;
}

int used_after(int key)
{
	char *copy = strdup("a copy");
	int sum;

	if (!copy)
		return -1;
	drop_text(key);
	free(copy);
	sum = copy[0]; //~ certain heap/use-after-free
	return sum;
}

int freed_once(int key) //~ clean
{
	char *copy = strdup("a copy");
	int sum;

	if (!copy)
		return -1;
	drop_text(key);
	sum = checksum(copy);
	free(copy);
	drop_text(key + 1);
	return sum;
}

/* What a callee that fails does besides says nothing of whether it fails. */
static int first_line, last_line;

static void tell(const char *text)
{
	int line = checksum(text);
	first_line = line;
	last_line = line;
}

static void *room(size_t size)
{
	void *room = malloc(size);
	if (!room)
		tell("no room");
	return room;
}

char *copy_badly(const char *text)
{
	char *copy;

	first_line = 1;
	last_line = 2;
	copy = room(strlen(text) + 1);
	strcpy(copy, text); //~ null/unchecked-result
	return copy;
}

/* A callee follows a pointer before it may end the program. */
struct server { int used, event; struct node *nodes[8]; };
extern int is_broken(int event);

static void set_events(struct server *server, int event)
{
	int i;

	for (i = 0; i < server->used; i++)
		if (server->nodes[i])
			server->nodes[i]->text = NULL;
	if (is_broken(event))
		abort();
	server->event = event;
}

void disable(struct server *server)
{
	set_events(NULL, 0); //~ null/dereference
	server->used = 0;
}

void enable(struct server *server) //~ clean
{
	set_events(server, 1);
	server->used = 1;
}
