// A function that ends the program for one kind of message, and returns early where it cannot write any.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum kind { NORMAL, ERROR, FATAL };

static FILE *log_file;
static int tried;
static int to_file;
static const char *log_name;

void tell(enum kind kind, const char *format, ...)
{
    va_list list;
    FILE *to = stderr;

    if (to_file) {
        if (!log_file && !tried) {
            tried = 1;
            log_file = fopen(log_name, "a");
        }
        to = log_file;
        if (!to)
            return;
    }
    va_start(list, format);
    vfprintf(to, format, list);
    va_end(list);
    if (kind == FATAL)
        exit(1);
}

void tell_in_file(const char *name)
{
    log_name = name;
    to_file = 1;
}

void *get_memory(size_t size)
{
    void *block = malloc(size);

    if (!block && size)
        tell(FATAL, "no memory");
    return block;
}

struct list {
    int count;
    int *numbers;
};

struct list *make_list(void) //~ clean
{
    struct list *list = get_memory(sizeof *list);

    list->count = 0;
    list->numbers = get_memory(10 * sizeof *list->numbers);
    list->numbers[0] = 0;
    return list;
}

int length_of_line(const char *name)
{
    char line[100];
    FILE *file = fopen(name, "r");
    int length;

    if (!file)
        tell(FATAL, "cannot open %s", name);
    length = fgets(line, sizeof line, file) ? (int)line[0] : 0; //~ known-false-positive note null/dereference
    fclose(file);
    return length;
}

int first_of_line(const char *name)
{
    FILE *file = fopen(name, "r");
    int first = fgetc(file); //~ null/unchecked-result

    fclose(file);
    return first;
}

// There may be other reasons than null.
int second_number(struct list *list)
{
    int *numbers = list->numbers;

    if (!numbers || list->count < 2)
        tell(FATAL, "no second number");
    return numbers[1]; //~ known-false-positive note null/dereference
}

// It is called for another reason.
int number_told(struct list *list, int index)
{
    int *numbers = list->numbers;

    if (!numbers)
        list->count = 0;
    if (index > 5)
        tell(FATAL, "no such number");
    return numbers[index]; //~ null/dereference
}
