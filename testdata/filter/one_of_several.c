/* An access follows one of several pointers: a specification that excludes one of them leaves the others, which the same statement follows. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

struct section { int number; };

struct section *find_section(int index);
struct section *first_of(int index), *last_of(int index);

static struct section *section_by_index(int index)
{
    if (index < 0)
        return NULL;
    return find_section(index);
}

int followed_before_the_test(int index, int *number)
{
    struct section *section = section_by_index(index);
    section->number = 1; //~ conc null/dereference
    if (!section)
        return index;
    return *number;
}

int followed_behind_the_test(int index, int *number)
{
    struct section *section = section_by_index(index);
    if (!section)
        return index;
    section->number = 1;
    return *number;
}

int either_is_followed_before_the_test(int index, int last)
{
    struct section *section = last ? last_of(index) : first_of(index);
    section->number = 1; //~ conc null/dereference
    if (!section)
        return 0;
    return last;
}

int either_parameter_is_followed_before_the_test(struct section *first, struct section *last, int which)
{
    struct section *section;
    if (which > 3)
        section = last;
    else
        section = first;
    section->number = 1; //~ conc null/dereference
    if (!section)
        return 0;
    return which;
}

int either_is_followed_behind_the_test(int index, int last)
{
    struct section *section = last ? last_of(index) : first_of(index);
    if (!section)
        return 0;
    section->number = 1;
    return last;
}

static int read_attribute(char *text, int length, int file)
{
    ssize_t n;
    if (file < 0) {
        text[0] = 0;
        return 0;
    }
    n = read(file, text, length - 1);
    if (n <= 0) {
        text[0] = 0;
        return 0;
    }
    text[n] = 0;
    return n;
}

/* Whatever `read` answers, the callee follows the pointer. */
int null_for_all_answers(int file)
{
    return read_attribute(NULL, 20, file); //~ conc null/dereference
}

/* That memory might run out is no excuse where the function that asks for it then ends the program. */
static void *surely_allocate(size_t size)
{
    void *block = malloc(size);
    if (!block)
        exit(1);
    return block;
}

static void describe(struct section *section, int *number)
{
    section->number = 0;
    if (number)
        *number = 0;
}

struct section *null_behind_an_allocation(struct section *other)
{
    struct section *section;
    if (other)
        return NULL;
    section = surely_allocate(sizeof *section);
    describe(NULL, NULL); //~ conc null/dereference
    return section;
}
