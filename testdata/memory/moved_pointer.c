/* An address behind a valid pointer is not where a block begins: a pointer that was moved on is freed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void frees_what_is_behind(char *text)
{
	while (*text != 'l' && *text != 0)
		text++;
	puts(text);
	free(text); //~ heap/bad-free
}

void frees_the_text(char *text) //~ clean
{
	char *at = text;

	while (*at != 'l' && *at != 0)
		at++;
	puts(at);
	free(text);
}

void frees_second(int *numbers, int count)
{
	if (count > 1)
		free(numbers + 1); //~ heap/bad-free
	else
		free(numbers);
}

/* The block begins before what the caller gets, as where an allocator keeps its own data in front. */
void frees_with_header(int *numbers) //~ clean
{
	printf("%d\n", numbers[0]);
	free(numbers - 2);
}

/* A static array or new memory: a block that the callee has allocated lies in no object of the program's. */
int all_numbers[50];

static int *numbers_for(int own)
{
	int *numbers;

	if (!own) {
		all_numbers[7] = 2;
		return all_numbers;
	}
	numbers = calloc(50, sizeof(*numbers));
	if (numbers == NULL)
		exit(1);
	puts("these");
	puts("are");
	puts("its");
	puts("own");
	return numbers;
}

void frees_static_array(void)
{
	int *numbers = numbers_for(0);

	printf("%d\n", numbers[7]);
	free(numbers); //~ note heap/bad-free
}

void frees_its_own(void) //~ clean
{
	int *numbers = numbers_for(1);

	printf("%d\n", numbers[7]);
	free(numbers);
}

/* A block and a pointer into it: who gets the pointer knows where the block begins. */
static char *skip_word(void)
{
	char *line = malloc(100);

	if (line == NULL)
		exit(1);
	strcpy(line, "northern line");
	puts(line);
	puts("has");
	puts("two");
	puts("words");
	return line + strlen("northern ");
}

void frees_second_word(void)
{
	char *word = skip_word();

	puts(word);
	free(word); //~ heap/bad-free
}

void frees_both_words(void) //~ clean
{
	char *word = skip_word();

	puts(word);
	free(word - strlen("northern "));
}

struct pair {
	int id;
	char label[12];
};

static void leave_second(struct pair **result)
{
	struct pair *pairs = calloc(2, sizeof(*pairs));

	if (pairs == NULL)
		exit(1);
	pairs[1].id = 3;
	puts("both");
	puts("of");
	puts("the");
	puts("pairs");
	*result = pairs + 1;
}

void frees_second_pair(void)
{
	struct pair *pair = NULL;

	leave_second(&pair);
	printf("%d\n", pair->id);
	free(pair); //~ heap/bad-free
}

void frees_both_pairs(void) //~ clean
{
	struct pair *pair = NULL;

	leave_second(&pair);
	printf("%d\n", pair->id);
	free(pair - 1);
}

/* One block, and two addresses by which it may be freed: an argument says which one. */
static void finish(int *numbers, int careful)
{
	printf("%d\n", *numbers);
	puts("is");
	puts("the");
	puts("first");
	if (careful)
		free(numbers - 1);
	else
		free(numbers);
}

void finishes_within(void)
{
	int *numbers = calloc(50, sizeof(*numbers));

	if (numbers == NULL)
		return;
	numbers[1] = 9;
	finish(numbers + 1, 0); //~ heap/bad-free
}

void finishes_carefully(void) //~ clean
{
	int *numbers = calloc(50, sizeof(*numbers));

	if (numbers == NULL)
		return;
	numbers[1] = 9;
	finish(numbers + 1, 1);
}

void finishes_at_start(void) //~ clean
{
	int *numbers = calloc(50, sizeof(*numbers));

	if (numbers == NULL)
		return;
	finish(numbers, 0);
}
