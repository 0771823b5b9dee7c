/* Assertions of what the function has just asked for: it reports that it does not hold, and ends the program if that is wanted. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

static int strict;

void set_strict(int on)
{
	strict = on;
}

#define CHECK(condition) do { \
	if (!(condition)) { \
		fprintf(stderr, "failed: " #condition "\n"); \
		if (strict) \
			assert(condition); \
		return 1; \
	} \
} while (0)

int decode(const char *text, int *value);

int test_decode(const char *text)
{
	int value, failed, ok;

	failed = decode(text, &value);
	CHECK(!failed); //~ known-false-positive note assert/failure
	CHECK(value == 3); //~ known-false-positive note assert/failure
	ok = decode(text + 1, &value) == 0;
	CHECK(ok); //~ known-false-positive note assert/failure
	return 0;
}
