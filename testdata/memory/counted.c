/* A callee counts in a loop, and the caller asks for a number that takes more rounds than are executed: what comes behind is no dead code. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int words(char *line, char **word, int most)
{
	char *s = line;
	int n;

	for (n = 0;; n++) {
		while (*s == ' ')
			*s++ = 0;
		if (!*s)
			break;
		if (n < most)
			word[n] = s;
		while (*s && *s != ' ')
			s++;
	}
	return n;
}

static int is_long(const char *text)
{
	int n = 0;

	while (*text++)
		n++;
	return n > 60;
}

int leaks_what_was_counted(char *line, char **word)
{
	char *copy = malloc(64); //~ heap/leak

	if (!copy)
		return -1;
	if (words(line, word, 4) != 4) {
		free(copy);
		return -1;
	}
	return copy[0] == line[0];
}

int frees_what_was_counted(char *line, char **word) //~ clean
{
	char *copy = malloc(64);
	int same;

	if (!copy)
		return -1;
	if (words(line, word, 4) != 4) {
		free(copy);
		return -1;
	}
	same = copy[0] == line[0];
	free(copy);
	return same;
}

int follows_for_a_long_one(const char *text)
{
	char *copy = NULL;

	if (is_long(text))
		return copy[0]; //~ null/dereference
	return 0;
}

int keeps_to_the_short_ones(const char *text) //~ clean
{
	char *copy = NULL;

	if (is_long(text))
		return copy != NULL;
	return 0;
}

/* Nothing but a truth value comes out, so that what is neither is still impossible. */
int neither(const char *text) //~ clean
{
	char *copy = NULL;

	switch (is_long(text)) {
	case 0:
	case 1:
		return 0;
	}
	return copy[0];
}
