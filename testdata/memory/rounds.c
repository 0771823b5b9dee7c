/* A loop that tries again with a larger block, and what its rounds leave. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

char *target_of(const char *path) //~ clean
{
    ssize_t size = 64;
    for (;;) {
        char *text = malloc(size);
        if (!text)
            exit(1);
        ssize_t length = readlink(path, text, size);
        if (length == -1) {
            if (errno == EINVAL || errno == ENOENT) {
                free(text);
                return NULL;
            }
            exit(2);
        }
        if (length < size - 1) {
            text[length] = 0;
            return text;
        }
        size += 64;
        free(text);
    }
}

char *target_or_leak(const char *path)
{
    ssize_t size = 64;
    for (;;) {
        char *text = malloc(size); //~ certain heap/leak
        if (!text)
            exit(1);
        ssize_t length = readlink(path, text, size);
        if (length == -1) {
            if (errno == EINVAL || errno == ENOENT)
                return NULL;
            exit(2);
        }
        if (length < size - 1) {
            text[length] = 0;
            return text;
        }
        size += 64;
        free(text);
    }
}
