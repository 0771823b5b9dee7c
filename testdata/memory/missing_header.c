/* Without the headers that declare them: records of which nothing is known, and assertions of a test's. */
#include <stdlib.h>
#include <unknown_library.h>

int count_keys(DATABASE f) //~ clean
{
	datum key, next;
	int n = 0;

	key = first_key(f);
	while (key.dptr) {
		n++;
		next = next_key(f, key);
		free(key.dptr);
		key = next;
	}
	return n;
}

int count_badly(DATABASE f)
{
	datum key, next;
	int n = 0;

	key = first_key(f);
	while (key.dptr) {
		n++;
		next = next_key(f, key);
		free(key.dptr);
		free(key.dptr); //~ heap/double-free
		key = next;
	}
	return n;
}

int encrypt(int n, unsigned char **out)
{
	*out = calloc(n, 1);
	if (!*out)
		return -1;
	if (start(n)) {
		free(*out);
		return -2;
	}
	return 0;
}

void test_encrypt(void **state)
{
	unsigned char *out = NULL;
	int r = encrypt(8, &out);
	assert_int_equal(r, 0);
	free(out); //~ known-false-positive note heap/double-free
}

void test_unasked(void **state)
{
	unsigned char *out = NULL;
	int r = encrypt(8, &out);
	(void)r;
	free(out); //~ heap/double-free
}

/* A type of the missing header: these are declarations, and no products. */
int reads_and_forgets(const char *path)
{
	MISSING_FILE *input = fopen(path, "r"); //~ file/leak
	char line[100];

	if (input == NULL)
		return -1;
	if (fgets(line, sizeof(line), input) == NULL)
		return 1;
	fclose(input);
	return 0;
}

int reads_and_closes(const char *path) //~ clean
{
	MISSING_FILE *input;
	char line[100];

	input = fopen(path, "r");
	if (input == NULL)
		return -1;
	if (fgets(line, sizeof(line), input) == NULL)
		line[0] = 0;
	fclose(input);
	return line[0];
}

/* Macros of the missing header before a function's name: the calls are of that function. */
static void MISSING_PRINTF(2, 0) MISSING_NONNULL((2))
complain(int status, const char *message)
{
	puts(message);
	puts("in");
	puts("some");
	puts("more");
	puts("words");
	if (status)
		exit(status);
}

int complains_and_ends(void) //~ clean
{
	int *number = malloc(sizeof(*number));

	if (number == NULL)
		complain(1, "no memory");
	*number = 3;
	free(number);
	return 0;
}

int complains_and_goes_on(void)
{
	int *number = malloc(sizeof(*number));

	if (number == NULL)
		complain(0, "no memory");
	*number = 3; //~ null/dereference
	free(number);
	return 0;
}
