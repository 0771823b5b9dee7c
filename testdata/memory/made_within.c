// A function makes a block with another in it, and leaves null where it makes neither; it returns 0 then, too.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void *memset(void *block, int byte, size_t size);
void free(void *block);
char *strdup(const char *text);
struct device;
int prepare(struct device *device);

struct device {
    char *path, *file;
    int loop, prepared;
};

static int make(struct device **device, const char *path)
{
    struct device *made;

    if (!path) {
        *device = 0;
        return 0;
    }
    made = malloc(sizeof *made);
    if (!made)
        return -12;
    memset(made, 0, sizeof *made);
    made->path = strdup(path);
    if (!made->path) {
        free(made);
        return -12;
    }
    made->loop = -1;
    *device = made;
    return 0;
}

int make_prepared(struct device **device, const char *path) //~ clean
{
    struct device *made;
    int status;

    status = make(&made, path);
    if (status < 0)
        return status;
    if (made) {
        status = prepare(made);
        if (!status) {
            made->prepared = 1;
        } else if (status < 0) {
            free(made->path);
            free(made);
            return -15;
        }
    }
    *device = made;
    return 0;
}

int make_and_lose(struct device **device, const char *path)
{
    struct device *made;
    int status;

    status = make(&made, path); //~ heap/leak
    if (status < 0)
        return status;
    if (made) {
        status = prepare(made);
        if (status < 0) {
            free(made);
            return -15;
        }
    }
    *device = made;
    return 0;
}
