// A record with room of its own for what is small: only what is large is freed.
#include <stdlib.h>
#include <string.h>

struct text {
    size_t length;
    char *start;
    char room[16];
};

static void drop(struct text *text)
{
    if (text->length >= sizeof(text->room))
        free(text->start);
}

static void drop_any(struct text *text)
{
    free(text->start);
}

struct text *empty(void) //~ clean
{
    struct text *text = malloc(sizeof(*text));

    if (!text)
        abort();
    text->length = 0;
    text->start = text->room;
    drop(text);
    return text;
}

void dropped_further_on(struct text *(*next)(struct text *))
{
    char *start = malloc(8);

    if (!start)
        return;
    start++;
    free(start); //~ certain heap/bad-free
    next(0);
}

static void end(char *start, size_t length)
{
    if (length > 8)
        free(start);
}

void ended_further_on(void)
{
    char *start = malloc(16);

    if (!start)
        return;
    end(start + 1, 16); //~ certain heap/bad-free
}

void not_ended(void) //~ clean
{
    char *start = malloc(16);

    if (!start)
        return;
    end(start + 1, 2);
    free(start);
}
