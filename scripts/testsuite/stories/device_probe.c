// bad1: 775 file/leak the device stays open when its buffer cannot be made
// bad2: 401 heap/leak the buffer is not freed when the device does not answer
// bad3: 416 heap/use-after-free the device is used after the failed probe freed it
// bad4: 415 heap/double-free the buffer is freed twice, as the labels are in the wrong order
// ---- header
struct device {
    int descriptor;
    unsigned char *buffer;
    const char *path;
};
// ---- a
static int @_probe(struct device *device)
{
    int error = -ENOMEM;

    device->descriptor = open(device->path, O_RDWR);
    if (device->descriptor < 0)
        return -errno;
    device->buffer = malloc(512);
    if (device->buffer == NULL)
        return error; // bad1
        goto close_it; // not bad1
    error = -EIO;
    if (suite_either())
        goto close_it; // bad2
        goto free_it; // not bad2
    return 0;

free_it: // not bad2
    free(device->buffer); // not bad2
    free(device->buffer); // bad4
close_it: // not bad1
    close(device->descriptor);
    return error;
}

static struct device *@_device(const char *path)
{
    struct device *device = calloc(1, sizeof(*device));

    if (device == NULL)
        return NULL;
    device->path = path;
    if (@_probe(device) < 0) {
        free(device);
        printf("no answer from %s\n", device->path); // bad3
        return NULL;
    }
    return device;
}

void @(void)
{
    struct device *device = @_device("/dev/null");

    if (device == NULL)
        return;
    close(device->descriptor);
    free(device->buffer);
    free(device);
}
