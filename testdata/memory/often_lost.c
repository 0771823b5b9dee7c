// A function hands out what its callers do not know to be theirs: that is told once.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct variable { const char *name; const char *value; };
static struct variable variables[64];
static int known;

void set_variable(const char *name, const char *value)
{
    if (known < 64)
        variables[known++] = (struct variable){name, value};
}

char *get_variable(const char *name)
{
    for (int i = 0; i < known; i++)
        if (strcmp(variables[i].name, name) == 0)
            return strdup(variables[i].value);
    return NULL;
}

// Another one, of which most callers know.
char *copy_of(const char *name)
{
    char *copy = malloc(strlen(name) + 8);
    if (!copy)
        exit(1);
    return strcpy(copy, name);
}

void show_1(void)
{
    const char *text = get_variable("NAME_1"); //~ heap/leak
    if (text)
        puts(text);
}

void show_2(void)
{
    const char *text = get_variable("NAME_2"); //~ note heap/leak
    if (text)
        puts(text);
}

void show_3(void)
{
    const char *text = get_variable("NAME_3"); //~ note heap/leak
    if (text)
        puts(text);
}

void show_4(void)
{
    const char *text = get_variable("NAME_4"); //~ note heap/leak
    if (text)
        puts(text);
}

void show_5(void)
{
    const char *text = get_variable("NAME_5"); //~ note heap/leak
    if (text)
        puts(text);
}

void show_6(void)
{
    const char *text = get_variable("NAME_6"); //~ note heap/leak
    if (text)
        puts(text);
}

void show_7(void)
{
    const char *text = get_variable("NAME_7"); //~ note heap/leak
    if (text)
        puts(text);
}

void show_8(void)
{
    const char *text = get_variable("NAME_8"); //~ note heap/leak
    if (text)
        puts(text);
}

void show_9(void)
{
    const char *text = get_variable("NAME_9"); //~ note heap/leak
    if (text)
        puts(text);
}

void show_10(void)
{
    const char *text = get_variable("NAME_10"); //~ note heap/leak
    if (text)
        puts(text);
}

void show_11(void)
{
    const char *text = get_variable("NAME_11"); //~ note heap/leak
    if (text)
        puts(text);
}

void show_12(void)
{
    const char *text = get_variable("NAME_12"); //~ note heap/leak
    if (text)
        puts(text);
}

void show_13(void)
{
    const char *text = get_variable("NAME_13"); //~ note heap/leak
    if (text)
        puts(text);
}

void knows(void)
{
    char *text = get_variable("NAME");
    if (text)
        puts(text);
    free(text);
}

void forgets(int quiet)
{
    char *text = copy_of("name"); //~ heap/leak
    if (quiet)
        return;
    puts(text);
    free(text);
}
