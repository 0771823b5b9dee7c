// What the world outside the program has answered inside a callee, no caller and no callee can promise: that the callee fails late and leaves a block
// behind is as free as that it fails at all.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct device {
    const char *path;
    char *buffer;
    int descriptor;
};

static int probe(struct device *device)
{
    int error = -ENOMEM;

    device->descriptor = open(device->path, O_RDWR);
    if (device->descriptor < 0)
        return -errno;
    device->buffer = malloc(512);
    if (device->buffer == NULL)
        goto close_it;
    error = -EIO;
    if (getenv("DEVICE") != NULL)
        goto close_it;
    return 0;

close_it:
    close(device->descriptor);
    return error;
}

struct device *device_of(const char *path)
{
    struct device *device = calloc(1, sizeof(*device));

    if (device == NULL)
        return NULL;
    device->path = path;
    if (probe(device) < 0) { //~ conc heap/leak
        free(device);
        return NULL;
    }
    return device;
}

static int probe_and_clean_up(struct device *device)
{
    int error = -ENOMEM;

    device->descriptor = open(device->path, O_RDWR);
    if (device->descriptor < 0)
        return -errno;
    device->buffer = malloc(512);
    if (device->buffer == NULL)
        goto close_it;
    error = -EIO;
    if (getenv("DEVICE") != NULL)
        goto free_it;
    return 0;

free_it:
    free(device->buffer);
close_it:
    close(device->descriptor);
    return error;
}

struct device *device_in_order(const char *path)
{
    struct device *device = calloc(1, sizeof(*device));

    if (device == NULL)
        return NULL;
    device->path = path;
    if (probe_and_clean_up(device) < 0) {
        free(device);
        return NULL;
    }
    return device;
}

// What decides here lies in memory: callers may know it.
struct source {
    int kind;
    char *text;
};

static int load(struct source *from, char **into)
{
    *into = malloc(16);
    if (*into == NULL)
        return -1;
    if (from->text[0] == 'x')
        return -1;
    return 0;
}

int loaded(struct source *from)
{
    char *text;
    if (load(from, &text) < 0) //~ a1 heap/leak
        return -1;
    free(text);
    return 0;
}
