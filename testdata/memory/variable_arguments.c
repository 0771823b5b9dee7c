// Pointers that a function takes from its variable arguments: what they lead to it may fill in, and keep.

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct number {
    int *digits;
    int used;
};

int init_all(struct number *first, ...)
{
    va_list rest;
    struct number *number = first;
    va_start(rest, first);
    while (number != NULL) {
        number->digits = calloc(8, sizeof *number->digits);
        if (number->digits == NULL)
            abort();
        number = va_arg(rest, struct number *);
    }
    va_end(rest);
    return 0;
}

void clear_all(struct number *first, ...)
{
    va_list rest;
    struct number *number = first;
    va_start(rest, first);
    while (number != NULL) {
        free(number->digits);
        number->digits = NULL;
        number = va_arg(rest, struct number *);
    }
    va_end(rest);
}

int sum(void) //~ clean
{
    struct number a = {0}, b = {0}, c = {0};
    init_all(&a, &b, &c, NULL);
    int all = a.digits[0] + b.digits[0] + c.digits[0];
    clear_all(&a, &b, &c, NULL);
    return all;
}

void say(const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    vprintf(format, rest);
    va_end(rest);
}

void tell(void)
{
    struct number a = {0};
    a.digits = calloc(8, sizeof *a.digits); //~ heap/leak
    say("%p\n", (void *)a.digits);
}

static int read_listed(const char *from, const char *format, va_list rest);

static int read_numbers(const char *from, const char *format, ...)
{
    va_list rest;
    int result;
    va_start(rest, format);
    result = read_listed(from, format, rest);
    va_end(rest);
    return result;
}

// As many as the format says, each by way of the other function.
static int read_listed(const char *from, const char *format, va_list rest)
{
    int result = 0;
    for (; *format; format++)
        switch (*format) {
        case 'd': {
            int *number = va_arg(rest, int *);
            *number = *from++;
            break;
        }
        case 's': {
            char **text = va_arg(rest, char **);
            int length;
            result = read_numbers(from, "d", &length);
            if (result)
                break;
            *text = malloc(length + 1);
            if (!*text)
                result = -1;
            break;
        }
        }
    return result;
}

int length_read(const char *from) //~ clean
{
    char *name = NULL;
    int error, length = 0;
    if (read_numbers(from, "sd", &name, &error))
        return -1;
    while (name[length])
        length++;
    free(name);
    return length;
}

int length_not_read(const char *from)
{
    char *name = NULL;
    int error, length = 0;
    if (read_numbers(from, "d", &error))
        return -1;
    while (name[length]) //~ certain null/dereference
        length++;
    return length;
}
