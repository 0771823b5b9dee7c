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
