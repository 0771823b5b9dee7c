// A message of one level ends the program, and messages below some level come back at once: the numbers say that this level is none of those.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define FATAL 0x0100
#define ERROR 0x0200
#define ALL 0xff00

int logging, mask, to_stderr = 1;

static void report(int kind, const char *format, va_list arguments)
{
    if (!(kind & ALL) && !(logging && (kind & mask)))
        return;
    if (to_stderr)
        vfprintf(stderr, format, arguments);
    switch (kind) {
    case FATAL:
    case ERROR:
        fputs("!\n", stderr);
        break;
    default:
        fputs("\n", stderr);
    }
    if (kind == FATAL)
        exit(1);
}

static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(FATAL, format, arguments);
    va_end(arguments);
}

static void complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(ERROR, format, arguments);
    va_end(arguments);
}

void written_or_ended(const char *name) //~ clean
{
    FILE *file = fopen(name, "w");
    if (!file)
        fail("%s", name);
    fputs("x", file);
    fclose(file);
}

void written_anyway(const char *name)
{
    FILE *file = fopen(name, "w");
    if (!file)
        complain("%s", name);
    fputs("x", file); //~ certain null/dereference
    fclose(file);
}
