#include "shapes.h"

int save(const struct shape *shape, const char *path)
{
	FILE *file = fopen(path, "w");

	if (file == NULL)
		return -1;
	fputs("shape ", file);
	fputs(shape->name, file);
	fclose(file);
	return 0;
}

/* The file's own error path. */
int load(struct shape *shape, const char *path)
{
	FILE *file = fopen(path, "r");
	char *name;

	if (!file)
		return -1;
	name = malloc(32);
	if (!name) {
		fclose(file);
		return -1;
	}
	if (fread(name, 1, 32, file) != 32) {
		free(name);
		fclose(file);
		return -1;
	}
	name[31] = 0;
	shape->name = name;
	fclose(file);
	return 0;
}
