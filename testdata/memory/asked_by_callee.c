// A member that a function looks at before it follows it: callers may leave it null, though what is stored there elsewhere may be null for want of memory.
#include <stdlib.h>
#include <string.h>

struct link {
    char *scheme;
    char *path;
};

int set_scheme(struct link *l, const char *text)
{
    l->scheme = strdup(text);
    return l->scheme != NULL;
}

static char *larger(char *text, int *most)
{
    char *more = realloc(text, *most * 2 + 1);
    if (more == NULL)
        return NULL;
    *most *= 2;
    return more;
}

char *print_link(struct link *l)
{
    char *text, *more;
    const char *at;
    int length = 0, most = 80;
    if (l == NULL)
        return NULL;
    text = malloc(most + 1);
    if (text == NULL)
        return NULL;
    if (l->scheme != NULL) {
        at = l->scheme;
        while (*at != 0) {
            if (length >= most) {
                more = larger(text, &most);
                if (more == NULL)
                    goto failed;
                text = more;
            }
            text[length++] = *at++;
        }
    }
    text[length] = 0;
    return text;
failed:
    free(text);
    return NULL;
}

// The same without the question.
char *print_scheme(struct link *l)
{
    char *text, *more;
    const char *at;
    int length = 0, most = 80;
    if (l == NULL)
        return NULL;
    text = malloc(most + 1);
    if (text == NULL)
        return NULL;
    at = l->scheme;
    while (*at != 0) {
        if (length >= most) {
            more = larger(text, &most);
            if (more == NULL)
                goto failed;
            text = more;
        }
        text[length++] = *at++;
    }
    text[length] = 0;
    return text;
failed:
    free(text);
    return NULL;
}

char *print_path(const char *path) //~ clean
{
    struct link l;
    memset(&l, 0, sizeof(l));
    l.path = (char *)path;
    return print_link(&l);
}

char *print_no_scheme(const char *path)
{
    struct link l;
    memset(&l, 0, sizeof(l));
    l.path = (char *)path;
    return print_scheme(&l); //~ null/dereference
}

char *print_if_relative(struct link *l) //~ clean
{
    if (l->scheme != NULL)
        return NULL;
    return print_link(l);
}
