// What headers that are missing would have said: types, members and functions are guessed, and pointers survive in the guesses.
#include <stdlib.h>

struct holder {
    char *name;
    gpointer data;
};

gchar *copy_of(const gchar *text) //~ clean
{
    return g_strdup(text);
}

void name_it(struct holder *holder, const char *name) //~ clean
{
    g_free(holder->name);
    holder->name = g_strdup(name);
}

gpointer made(struct holder *holder) //~ clean
{
    holder->data = g_malloc(8);
    return holder->data;
}

void dropped(const char *name)
{
    char *copy = g_strdup(name); //~ certain heap/leak

    if (name)
        return;
    g_free(copy);
}

void handed(const char *name) //~ clean
{
    insert_into_table(g_strdup(name), 3);
}

// A callee fills in members that no declaration names.
void filled_twice(int kind) //~ clean
{
    any_value value;

    if (extract_value(kind, &value) < 0)
        return;
    free(value.text);
    if (extract_value(kind, &value) < 0)
        return;
    free(value.text);
}

void freed_twice(int kind)
{
    any_value value;

    if (extract_value(kind, &value) < 0)
        return;
    free(value.text);
    free(value.text); //~ certain heap/double-free
}

// Of two integers in brackets the first one is the pointer.
double load(void) //~ clean
{
    struct averages all;

    if (read_averages(&all, sizeof(all)))
        return 0;
    return all.loads[0] / all.scale;
}
