// A function that returns `-errno` has failed: the result is less than 0.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct transfer {
    int file;
    char *contents;
};

static int contents_of(struct transfer *t, char **contents, size_t size)
{
    *contents = malloc(size);
    if (*contents == NULL)
        return -ENOMEM;
    if (lseek(t->file, 0, SEEK_SET) < 0) {
        free(*contents);
        return -errno;
    }
    if (read(t->file, *contents, size) < 0) {
        free(*contents);
        return -errno;
    }
    return 0;
}

int show(struct transfer *t) //~ clean
{
    char *contents;
    int error = contents_of(t, &contents, 100);
    if (error < 0)
        return error;
    error = contents[0];
    free(contents);
    return error;
}

int show_at_any_rate(struct transfer *t)
{
    char *contents;
    int error = contents_of(t, &contents, 100);
    if (error == -ENOMEM)
        return error;
    error = contents[0]; //~ heap/use-after-free
    free(contents);
    return error;
}

// `errno` itself may be 0.
int failed_or_not(struct transfer *t)
{
    char *contents = malloc(10);
    if (!contents)
        return -1;
    errno = 0;
    long at = lseek(t->file, 0, SEEK_CUR);
    int failed = errno;
    if (at < 0)
        free(contents);
    if (failed == 0) {
        contents[0] = 0; //~ heap/use-after-free
        if (at >= 0)
            free(contents);
        return 0;
    }
    if (at >= 0)
        free(contents);
    return -failed;
}
