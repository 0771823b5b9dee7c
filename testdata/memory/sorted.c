// The elements of a sorted array are there afterwards, in another order: the loop that frees all of them frees what was put there.
#include <stdlib.h>
#include <string.h>

int by_text(const void *one, const void *other);

int count_texts(int n, const char *const *from) //~ clean
{
	char **texts = calloc(n, sizeof *texts);
	int i, count = 0;

	if (!texts)
		return -1;
	for (i = 0; i < n; i++) {
		char *text = strdup(from[i]);
		if (!text)
			break;
		texts[count] = text;
		++count;
	}
	qsort(texts, count, sizeof *texts, by_text);
	for (i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
	return count;
}

int count_texts_badly(int n, const char *const *from)
{
	char **texts = calloc(n, sizeof *texts); //~ heap/leak
	int i, count = 0;

	if (!texts)
		return -1;
	for (i = 0; i < n; i++) {
		char *text = strdup(from[i]);
		if (!text)
			break;
		texts[count] = text;
		++count;
	}
	qsort(texts, count, sizeof *texts, by_text);
	for (i = 0; i < count; i++)
		free(texts[i]);
	return count;
}
