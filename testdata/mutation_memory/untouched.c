/* Nothing is planted here: the functions are not faultless by their graph, or are not compiled, or are not plain. */
#include "shapes.h"

int freed_twice(int twice)
{
	char *bytes = malloc(10);

	if (bytes == NULL)
		return -1;
	bytes[0] = 1;
	free(bytes);
	if (twice)
		free(bytes);
	return 0;
}

int used_after(int late)
{
	char *bytes = malloc(10);

	if (bytes == NULL)
		return -1;
	if (late)
		free(bytes);
	bytes[0] = 1;
	free(bytes);
	return 0;
}

#ifdef OTHER_SYSTEM
int not_compiled(void)
{
	char *bytes = malloc(10);

	if (bytes == NULL)
		return -1;
	bytes[0] = 1;
	free(bytes);
	return 0;
}
#endif

int with_directive(void)
{
	char *bytes = malloc(10);

	if (bytes == NULL)
		return -1;
#ifdef FAST
	bytes[0] = 1;
#endif
	bytes[0] = 2;
	free(bytes);
	return 0;
}
