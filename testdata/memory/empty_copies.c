// A copy of no bytes follows no pointer. Only who asks for the size himself is taken to know that it may be 0.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void out_of_memory(void) __attribute__((noreturn));

void *copy_of(const void *from, size_t size) //~ clean
{
    void *to = malloc(size);
    if (!to && size != 0)
        out_of_memory();
    return memcpy(to, from, size);
}

void *careless_copy_of(const void *from, size_t size)
{
    void *to = malloc(size);
    return memcpy(to, from, size); //~ null/unchecked-result
}

void append(char *to, const char *from, size_t size) //~ clean
{
    if (!to && size)
        return;
    memmove(to, from, size);
}

void append_always(char *to, const char *from, size_t size)
{
    if (!to)
        size++;
    memmove(to, from, size); //~ null/dereference
}

void *allocate(size_t number, size_t size)
{
    void *block = calloc(number, size);
    if (!block && number && size)
        out_of_memory();
    return block;
}

// No string is as long as memory.
char *copy_of_text(const char *text) //~ clean
{
    char *copy = allocate(1, strlen(text) + 1);
    copy[0] = '\0';
    return copy;
}

char *room_for(unsigned size)
{
    char *room = allocate(size, 1);
    if (size == 0)
        room[0] = '\0'; //~ known-miss null/unchecked-result
    return room;
}

extern void size_of_window(int *rows, int *columns);
extern const char *text_of_window(void);

char *text_of_row(void)
{
    int rows, columns;
    char *text;
    size_of_window(&rows, &columns);
    text = allocate(1, columns + 1);
    memcpy(text, text_of_window(), columns); //~ note null/unchecked-result
    return text;
}

char *text_if_any(const char *text)
{
    char *copy;
    if (!text)
        return NULL;
    copy = malloc(strlen(text) + 1);
    if (!copy)
        out_of_memory();
    return strcpy(copy, text);
}

struct user {
    char *name;
};

size_t length_of_name(struct user *user)
{
    char *name = text_if_any(user->name);
    size_t length = strlen(name); //~ note null/dereference
    free(name);
    return length;
}

size_t length_of_known_name(struct user *user)
{
    size_t length;
    char *name = text_if_any(user->name);
    if (user->name == NULL)
        puts("no name");
    length = strlen(name); //~ null/dereference
    free(name);
    return length;
}
