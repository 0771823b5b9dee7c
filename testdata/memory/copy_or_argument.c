// A function that returns its argument or a copy of it, as a number says that it is called with. What else decides it, a loop over the bytes, callers are
// not told.
#include <stdlib.h>
#include <string.h>

enum { GROW, STATIC, COPY };

static void *get(size_t n)
{
    void *p = malloc(n);
    if (!p)
        exit(1);
    return p;
}

static char *marked(char *text, int length, int how)
{
    static char kept[100];
    int marks = 0;
    char *at, *to, *end;

    if (length == -1) {
        for (end = text, length = 0; *end; length++)
            if (*end++ == '!')
                marks++;
    } else
        for (end = text; end < text + length;)
            if (*end++ == '!')
                marks++;
    if (marks || how == COPY) {
        switch (how) {
        case GROW:
            text = realloc(text, length + marks + 1);
            if (!text)
                exit(1);
            break;
        case COPY:
            text = memcpy(get(length + marks + 1), text, length);
            break;
        case STATIC:
            text = memcpy(kept, text, length);
            break;
        }
        at = text + length;
        end = to = text + length + marks;
        while (marks) {
            if ((*--to = *--at) == '!') {
                *--to = '\\';
                marks--;
            }
        }
    }
    *end = 0;
    return text;
}

char *copy_of(const char *text) //~ clean
{
    int length = strlen(text);
    char *mine = get(length + 1), *copy;
    memcpy(mine, text, length + 1);
    copy = marked(mine, length, COPY);
    free(mine);
    return copy;
}

int used_behind(const char *text) //~ clean
{
    char *copy = copy_of(text);
    int first = copy[0];
    free(copy);
    return first;
}

void freed_with_the_copy(const char *text) //~ clean
{
    int length = strlen(text);
    char *mine = get(length + 1), *copy;
    memcpy(mine, text, length + 1);
    copy = marked(mine, length, COPY);
    free(copy);
    free(mine);
}

static char *in_place(char *text, int how)
{
    return how == COPY ? strdup(text) : text;
}

void freed_twice(const char *text)
{
    int length = strlen(text);
    char *mine = get(length + 1), *same;
    memcpy(mine, text, length + 1);
    same = in_place(mine, STATIC);
    free(same);
    free(mine); //~ certain heap/double-free
}
