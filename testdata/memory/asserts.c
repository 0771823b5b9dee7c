// An assertion is certain to fail only where no run that comes to it is left.
#include <assert.h>
#include <string.h>
#include <unistd.h>

struct bits {
    unsigned char mask[9];
};

unsigned char byte_of(const struct bits *from, unsigned count)
{
    if (count > 8) {
        assert(count < 8); //~ certain assert/failure
        count = 8;
    }
    return from->mask[count];
}

int written(int fd)
{
    int done = write(fd, "x", 1);

    assert(done == 1); //~ note assert/failure
    return done;
}

// No more is read than was asked for.
int one_byte(int fd) //~ clean
{
    unsigned char byte;
    ssize_t done = read(fd, &byte, sizeof(byte));

    if (done <= 0)
        return -1;
    assert(done == sizeof(byte));
    return byte;
}

// What a search in an array finds is asserted to be there. That it may be null is for the filters, which find no belief of the code in it.
static const char letters[] = "ab:c";

int takes_value(int letter)
{
	assert(strchr(letters, letter) != NULL); //~ note assert/failure
	return strchr(letters, letter)[1] == ':';
}

// What comes behind an assertion that holds has branches, and assertions, of its own.
struct record {
	char *name;
	int size;
};

struct record *new_record(void);
int fill(struct record *record);
int store(struct record *record);

int several(void)
{
	struct record *record = new_record();
	assert(record != NULL); //~ note assert/failure
	if (fill(record) != 0)
		return -1;
	assert(record->size > 0); //~ note assert/failure
	int stored = store(record);
	assert(stored == 1); //~ note assert/failure
	return stored;
}

// Who asserts in a case of a `switch`, behind the end of a search, or that it is not reached, says that it is not.
struct entry {
	int kind, size;
	struct entry *next;
};

int size_by_kind(const struct entry *entry)
{
	int size;

	switch (entry->kind) {
	case 0:
		size = entry->size;
		break;
	case 1:
		size = 2;
		break;
	default:
		size = 0;
		assert(!"unknown kind"); //~ note assert/failure
	}
	return size;
}

int sizes_by_kind(const struct entry *entry)
{
	int size = 0;

	for (; entry; entry = entry->next)
		switch (entry->kind) {
		case 0:
			size += entry->size;
			break;
		default:
			size = 0;
			assert(!"unknown kind"); //~ note assert/failure
		}
	return size;
}

int never_that_kind(const struct entry *entry)
{
	switch (entry->kind) {
	case 3:
	case 5:
		assert(entry->kind != 3); //~ note assert/failure
		assert(entry->kind != 5); //~ note assert/failure
		return 0;
	default:
		return entry->size;
	}
}

int size_of_kind(const struct entry *entries, int kind)
{
	for (; entries->kind; entries++) {
		if (entries->kind != kind)
			continue;
		return entries->size;
	}
	assert(entries->kind); //~ note assert/failure
	return 0;
}

static int twice(int number)
{
	return 2 * number;
}

int wrong_in_a_case(const struct entry *entry)
{
	switch (entry->kind) {
	case 3:
		assert(twice(4) == 9); //~ assert/failure
		return 0;
	default:
		return entry->size;
	}
}
