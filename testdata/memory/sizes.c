// A number that is added to a pointer is none, whatever it was passed to before.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *read_all(int fd, size_t size)
{
    char *text = malloc(size + 1);

    read(fd, text, size);
    text[size] = 0; //~ certain null/unchecked-result
    return text;
}

int is_same(int fd, const char *other) //~ clean
{
    char *text = read_all(fd, 10);
    int same = !strcmp(text, other);

    free(text);
    return same;
}

// A wrapper that ends the program where there is no memory, unless none was asked for.
static void *allocate(size_t size)
{
    void *block = malloc(size);

    if (!block && size)
        exit(1);
    return block;
}

int *one(void) //~ clean
{
    int *numbers = allocate(sizeof(*numbers));

    numbers[0] = 1;
    return numbers;
}

// `malloc(0)` is not null either.
int *some(size_t count) //~ clean
{
    int *numbers = allocate(count);

    numbers[0] = 1;
    return numbers;
}

static void *perhaps(size_t size, int needed)
{
    void *block = malloc(size);

    if (!block && needed)
        exit(1);
    return block;
}

int *if_there(size_t count)
{
    int *numbers = perhaps(count, 0);

    numbers[0] = 1; //~ certain null/unchecked-result
    return numbers;
}

// A message of the gravest kind ends the program.
static void tell(int how, const char *what)
{
    puts(what);
    switch (how) {
    case 0:
    case 1:
        break;
    case 2:
        exit(1);
    default:
        abort();
    }
}

static FILE *opened(const char *name, int needed)
{
    FILE *file = fopen(name, "r");

    if (!file) {
        tell(needed ? 2 : 1, "cannot open");
        return NULL;
    }
    return file;
}

int first_of(const char *name) //~ clean
{
    FILE *file = opened(name, 1);
    int first = fgetc(file);

    fclose(file);
    return first;
}

int first_if_there(const char *name)
{
    FILE *file = opened(name, 0);
    int first = fgetc(file); //~ certain null/unchecked-result

    fclose(file);
    return first;
}

// What is followed in one of many cases is not followed in the others.
static int work(int kind, int *where)
{
    switch (kind) {
    case 1: return 101;
    case 2: return 102;
    case 3: return 103;
    case 4: return 104;
    case 5: return 105;
    case 6: return 106;
    case 7: return 107;
    case 8: return 108;
    case 9: return 109;
    case 10: return 110;
    case 11: return 111;
    case 99: return *where;
    default: return 0;
    }
}

int other_case(void) //~ clean
{
    return work(11, NULL);
}

int that_case(void)
{
    return work(99, NULL); //~ certain null/dereference
}

// A library reads no more than it was asked for; `exec` comes back only where it fails.
void run(int count, char **words) //~ clean
{
    if (fork() == 0) {
        char **copy = malloc((count + 1) * sizeof(*copy));
        int result;

        if (!copy)
            _exit(1);
        copy[0] = words[0];
        if ((result = execvp(copy[0], copy)))
            _exit(result);
    }
}

// A product of two sizes that is not null has memory.
static void *allocate_some(size_t count, size_t size)
{
    void *block = malloc(count * size);

    if (!block && count > 0 && size > 0)
        exit(1);
    return block;
}

int *some_of(size_t count) //~ clean
{
    int *numbers = allocate_some(count, sizeof(*numbers));

    numbers[0] = 1;
    return numbers;
}

// What a wrapper never returns is not null, however it comes about.
static void *(*allocator)(size_t);

static void *by_allocator(size_t count, size_t size)
{
    if (count == 0 || size == 0)
        return NULL;
    if (allocator)
        return calloc(count, size);
    return NULL;
}

static void *needed(size_t size)
{
    int *block = by_allocator(1, size);

    if (!block)
        abort();
    block[0] = 1;
    return block;
}

void use_needed(void) //~ clean
{
    int *block = needed(4);

    block[0] = 2;
    free(block);
}

// What a framework for tests asserts does not come back where it is not so, if only its header is missing.
void test(void **state) //~ clean
{
    int *number = malloc(sizeof(*number));

    assert_non_null(number);
    *number = 1;
    *state = number;
}
