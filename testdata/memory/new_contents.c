/* What lies in a block that a callee has made: its members are known where the callee has set them to constants, or to what it was called with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct object {
	int references;
	int weight;
	char *label;
};

static struct object *object_new(int weight)
{
	struct object *object = malloc(sizeof(*object));

	if (object) {
		object->references = 1;
		object->weight = weight;
		object->label = NULL;
		puts("a");
		puts("new");
		puts("object");
	}
	return object;
}

static struct object *object_get(struct object *object)
{
	object->references++;
	puts("one");
	puts("more");
	puts("for");
	puts("it");
	return object;
}

static void object_put(struct object *object)
{
	puts("one");
	puts("less");
	puts("for");
	puts("it");
	if (--object->references == 0)
		free(object);
}

void frees_after_last_put(void)
{
	struct object *object = object_new(12);
	struct object *other;

	if (object == NULL)
		return;
	other = object_get(object);
	printf("%d\n", other->weight);
	object_put(other);
	object_put(object);
	free(object); //~ heap/double-free
}

void puts_both(void) //~ clean
{
	struct object *object = object_new(12);
	struct object *other;

	if (object == NULL)
		return;
	other = object_get(object);
	printf("%d\n", other->weight);
	object_put(other);
	object_put(object);
}

void forgets_a_reference(void)
{
	struct object *object = object_new(12); //~ heap/leak

	if (object == NULL)
		return;
	object_get(object);
	object_put(object);
}

int follows_no_label(void)
{
	struct object *object = object_new(3);
	int first;

	if (object == NULL)
		return 0;
	first = object->label[0]; //~ null/dereference
	free(object);
	return first;
}

int follows_a_label(char *label) //~ clean
{
	struct object *object = object_new(3);
	int first;

	if (object == NULL)
		return 0;
	object->label = label;
	first = object->label[0];
	free(object);
	return first;
}

int decides_by_weight(void) //~ clean
{
	struct object *object = object_new(7);
	int *unset = NULL;
	int seven;

	if (object == NULL)
		return 0;
	seven = object->weight;
	free(object);
	if (seven != 7)
		return *unset;
	return 1;
}
