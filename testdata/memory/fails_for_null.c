// A function that fails for a null argument says by its result that it was not null. Where it returns -1 or what is not negative, `!= -1` tells it as well
// as `>= 0` does.
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

struct text {
    char *content;
    size_t length;
};

size_t write_node(struct text *t, const char *node);

struct text *new_text(void)
{
    struct text *t = malloc(sizeof(*t));
    if (t == NULL)
        return NULL;
    t->content = NULL;
    t->length = 0;
    return t;
}

static int write_checked(struct text *t, const char *node)
{
    size_t length;
    if (t == NULL || node == NULL)
        return -1;
    length = write_node(t, node);
    if (length > INT_MAX)
        return -1;
    return (int)length;
}

// It writes nothing for a null pointer, and that is no failure.
static int write_lenient(struct text *t, const char *node)
{
    size_t length;
    if (t == NULL)
        return 0;
    length = write_node(t, node);
    if (length > INT_MAX)
        return -1;
    return (int)length;
}

char *node_as_text(const char *node) //~ clean
{
    char *content;
    struct text *t = new_text();
    if (write_checked(t, node) == -1) {
        free(t);
        return NULL;
    }
    content = t->content;
    free(t);
    return content;
}

char *node_as_text_by_sign(const char *node) //~ clean
{
    char *content;
    struct text *t = new_text();
    if (write_checked(t, node) < 0) {
        free(t);
        return NULL;
    }
    content = t->content;
    free(t);
    return content;
}

char *node_as_text_leniently(const char *node)
{
    char *content;
    struct text *t = new_text();
    if (write_lenient(t, node) == -1) {
        free(t);
        return NULL;
    }
    content = t->content; //~ null/unchecked-result
    free(t);
    return content;
}
