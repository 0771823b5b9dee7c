// A function returns a stream that was there before, or one that it opens: callers have to close the one that it opens only.
#include <stdio.h>
#include <string.h>

static FILE *open_input(const char *name) //~ clean
{
    FILE *file;

    if (!strcmp(name, "-"))
        file = stdin;
    else if (!(file = fopen(name, "r")))
        return NULL;
    return file;
}

int first(const char *name) //~ clean
{
    FILE *file = open_input(name);
    int c;

    if (!file)
        return -1;
    c = getc(file);
    if (file != stdin)
        fclose(file);
    return c;
}

int first_of_three(const char *name)
{
    FILE *file = open_input(name); //~ file/leak
    int c;

    if (!file)
        return -1;
    c = getc(file);
    if (c == EOF)
        return -1;
    if (file != stdin)
        fclose(file);
    return c;
}
