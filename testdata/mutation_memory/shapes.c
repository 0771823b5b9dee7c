#include "shapes.h"

/* Never planted into: what releases for others. Known by its definition. */
void shape_free(struct shape *shape)
{
	if (shape == NULL)
		return;
	free(shape->name);
	free(shape);
}

static void shape_paint(struct shape *shape, int colour)
{
	shape->colour = colour;
}

static int shape_weight(const struct shape *shape)
{
	return 3 * shape->sides;
}

struct shape *shape_new(int sides)
{
	struct shape *shape = calloc(1, sizeof(*shape));

	if (shape == NULL)
		return NULL;
	shape->sides = sides;
	shape->name = strdup("shape");
	if (shape->name == NULL) {
		free(shape);
		return NULL;
	}
	return shape;
}

struct shape *shape_find(struct shape *head, int sides)
{
	while (head != NULL && head->sides != sides)
		head = head->next;
	return head;
}

/* A wrapper of this file allocates, one of this file releases. */
int shape_compare(int first, int second)
{
	struct shape *one = shape_new(first);
	struct shape *other;
	int result;

	if (!one)
		return -1;
	one->colour = 4;
	other = shape_new(second);
	if (!other) {
		shape_free(one);
		return -1;
	}
	other->colour = one->colour;
	shape_paint(other, 2);
	result = shape_weight(one) - shape_weight(other);
	shape_free(one);
	shape_free(other);
	return result;
}

int shape_draw(int sides)
{
	struct shape *shape = shape_new(sides);
	char *bytes;
	int result = -1;

	if (shape == NULL)
		return result;
	shape->colour = 1;
	bytes = malloc(100);
	if (bytes == NULL)
		goto out;
	bytes[0] = 'x';
	if (shape->sides > 9)
		goto out_bytes;
	result = shape_weight(shape);
out_bytes:
	free(bytes);
out:
	shape_free(shape);
	return result;
}
