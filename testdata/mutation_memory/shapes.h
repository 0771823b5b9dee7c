#include <stdio.h>

struct shape {
	int sides;
	int colour;
	char *name;
	struct shape *next;
};

struct shape *shape_new(int sides);
void shape_free(struct shape *shape);
struct shape *shape_find(struct shape *head, int sides);
