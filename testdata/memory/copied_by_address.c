// A number or a pointer is copied somewhere by the address of the variable that it is in, so many bytes as somebody says.
#include <stdlib.h>
#include <string.h>

int socket(int domain, int type, int protocol);
int close(int file);

struct message {
    int length;
    char data[200];
};

int send_number(struct message *message, int domain, int size) //~ clean
{
    int file = socket(domain, 1, 0);
    if (file < 0)
        return -1;
    memcpy(message->data, &file, size);
    return 0;
}

int send_pointer(struct message *message, size_t room, size_t size) //~ clean
{
    char *text = malloc(room);
    if (!text)
        return -1;
    memcpy(message->data, &text, size);
    return 0;
}

int send_nothing(struct message *message, int domain, int size)
{
    int file = socket(domain, 1, 0); //~ file/leak
    if (file < 0)
        return -1;
    memcpy(message->data, &size, size);
    return 0;
}

// A callee copies it unless it has no room, and is not asked.
int add(struct message *message, const void *data, int size)
{
    if (message->length + size > 200)
        return -1;
    memcpy(message->data + message->length, data, size);
    message->length += size;
    return 0;
}

int add_number(struct message *message, int domain)
{
    int file = socket(domain, 1, 0); //~ file/leak
    if (file < 0)
        return -1;
    add(message, &file, sizeof(file));
    return 0;
}
