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
