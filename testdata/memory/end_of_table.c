/* A loop that looks for the end of a table of the function's own is not executed for all of its entries: behind it the end has been found all
 * the same, or what was looked for. */
#include <stdlib.h>

int fits(char *group);
int is_wrong(char *group);

int first_that_fits(void) //~ clean
{
	int sizes[] = { 8, 16, 32, -1 };
	unsigned int i;
	char *group;

	for (i = 0; sizes[i] != -1; i++) {
		group = malloc(sizes[i]);
		if (!group)
			return -1;
		if (fits(group) == 0)
			break;
		free(group);
	}
	if (sizes[i] != -1) {
		if (is_wrong(group)) {
			free(group);
			return -1;
		}
		free(group);
	}
	return sizes[i];
}

/* The last one that was looked at is freed once more where none has fitted. */
int last_again(void)
{
	int sizes[] = { 8, 16, 32, -1 };
	unsigned int i;
	char *group = NULL;

	for (i = 0; sizes[i] != -1; i++) {
		group = malloc(sizes[i]);
		if (!group)
			return -1;
		if (fits(group) == 0)
			break;
		free(group);
	}
	if (sizes[i] == -1)
		free(group); //~ heap/double-free
	else
		free(group);
	return 0;
}

struct option {
	const char *name;
	int value;
};

/* The pointer into the table has come to the end, too. */
int find(char *block, int (*is_it)(const char *)) //~ clean
{
	struct option options[] = { { "a", 1 }, { "b", 2 }, { "c", 3 }, { NULL, 0 } };
	struct option *option;

	for (option = options; option->name; option++) {
		if (is_it(option->name))
			break;
	}
	if (!option->name)
		free(block);
	if (!option->name)
		return 0;
	free(block);
	return option->value;
}
