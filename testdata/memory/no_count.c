/* A count of holders is a number that is worked out from the one that was there. What is only chosen by what was there is none. */
#include <stdlib.h>
#include <unistd.h>

struct message { int holders; char text[60]; };

int received(int from)
{
    struct message *message = malloc(sizeof *message); //~ note heap/leak
    ssize_t size;

    if (!message)
        return -1;
    size = read(from, message, sizeof *message);
    if (--message->holders == 0)
        free(message);
    return size > 0;
}

char *without_ends_of_lines(int from, size_t used, size_t more)
{
    char *text = malloc(used), *p; //~ heap/leak
    char *longer;

    if (!text)
        return NULL;
    if (read(from, text, used) != (ssize_t)used) {
        free(text);
        return NULL;
    }
    for (p = text; p < text + used; p++)
        if (*p == '\n')
            *p = 0;
    longer = realloc(text, used + more);
    if (!longer)
        return NULL;
    return longer;
}
