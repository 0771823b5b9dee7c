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
