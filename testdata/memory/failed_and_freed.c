/* A function frees what it has made where it fails: callers see by its result whether there is something left to free, even if other failures
 * return results of many kinds. */
#include <stdlib.h>

struct expression {
	char *code;
	char *marks;
};

static const int meanings[] = { 0, 3, 8, 16, 4, 5 };
static const int others[] = { 30, 4, 32, 5, 37, 9 };

static int compile(struct expression *expression, const char *text)
{
	int error;

	expression->code = malloc(80);
	if (expression->code && text[0] == '(') {
		free(expression->code);
		expression->code = NULL;
		error = text[1];
	}
	if (expression->code == NULL) {
		unsigned int i;

		if (error < 100)
			return 3;
		error -= 100;
		if (error < 6)
			return meanings[error];
		for (i = 0; i < 6; i += 2)
			if (error == others[i])
				return others[i + 1];
		return 3;
	}
	expression->marks = malloc(9);
	if (expression->marks == NULL) {
		free(expression->code);
		return 12;
	}
	return 0;
}

static void release(struct expression *expression)
{
	free(expression->code);
	free(expression->marks);
}

int match(const char *text, int wanted) //~ clean
{
	struct expression expression;
	int result = compile(&expression, text);

	if (result != wanted)
		exit(1);
	if (result != 0)
		return 2;
	release(&expression);
	return 0;
}

int match_wrong(const char *text)
{
	struct expression expression = { NULL, NULL };
	int result = compile(&expression, text);

	if (result == 12)
		free(expression.code); //~ heap/double-free
	if (result != 0)
		return 2;
	free(expression.code);
	free(expression.marks);
	return 0;
}
