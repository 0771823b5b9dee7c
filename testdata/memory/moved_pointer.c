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
