// A macro that serves pointers of all kinds compares its argument with null: who uses it need not think that this pointer is ever null.

#include <string.h>

struct buffer {
    char *data;
    unsigned long size;
};

#define text_of(b) ((b)->data ? (const char *)(b)->data : "")

static void cut(char *text)
{
    *text = 0;
}

int expand(struct buffer *buffer) //~ clean
{
    cut(buffer->data);
    if (*(text_of(buffer)) != '@')
        return 1;
    return 0;
}

int expand_if_there(struct buffer *buffer)
{
    cut(buffer->data); //~ null/dereference
    if (buffer->data == NULL)
        return 0;
    return *buffer->data != '@';
}
