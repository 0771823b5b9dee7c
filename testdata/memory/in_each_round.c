// A variable that is declared in a loop, without a value, has none of the round before.
#include <unistd.h>

struct message;
int kind_of(struct message *message);
int next(struct message **message);
void get_basic(struct message *message, void *value);

void print_all(struct message *message) //~ clean
{
	do {
		switch (kind_of(message)) {
		case 1: {
			int fd;
			get_basic(message, &fd);
			close(fd);
			break;
		}
		default:
			break;
		}
	} while (next(&message));
}

static void get_some(int *to, int from)
{
	if (from > 3)
		*to = dup(from);
}

// Declared there, it is another one in each round; declared outside, it may be closed twice.
void close_each(const int *from, int count) //~ clean
{
	for (int i = 0; i < count; i++) {
		int fd;
		get_some(&fd, from[i]);
		if (from[i] > 3)
			close(fd);
	}
}

// What a callee has written there hangs on what it finds.
struct value {
	int kind, number;
	struct value *next;
};

static void get_value(const struct value *from, void *to)
{
	switch (from->kind) {
	case 1:
		*(int *)to = from->number;
		break;
	case 2:
		*(int *)to = dup(from->number);
		break;
	}
}

void print_fd(int fd);

void print_values(const struct value *value) //~ clean
{
	do {
		switch (value->kind) {
		case 2: {
			int fd;
			get_value(value, &fd);
			print_fd(fd);
			close(fd);
			break;
		}
		}
		value = value->next;
	} while (value);
}

void close_the_same(const int *from, int count)
{
	int fd = dup(0);

	for (int i = 0; i < count; i++) {
		get_some(&fd, from[i]);
		close(fd); //~ file/double-close
	}
}
