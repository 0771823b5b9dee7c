// Whether a function has stored something hangs on its callees' answers; its result says so.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void free(void *block);
int open(const char *path, int flags, ...);
int close(int file);
int flock(int file, int operation);
int kind_of(int file, unsigned *mode);
int find_resource(unsigned mode, char *name, size_t room);
int open_resource(const char *name);
int verify(int number);

struct handle {
    int file, kind;
    unsigned mode;
    char *name;
};

static int acquire(const char *path, struct handle *handle)
{
    char name[64];
    int first, file;
    unsigned mode;

    first = open(path, 0);
    if (first < 0)
        return -22;
    if (kind_of(first, &mode)) {
        close(first);
        return -22;
    }
    if ((mode & 0xf000) == 0x6000) {
        if (find_resource(mode, name, sizeof name)) {
            close(first);
            return -22;
        }
        file = open_resource(name);
        close(first);
        if (file < 0)
            return file;
        handle->file = file;
        handle->mode = mode;
        handle->kind = 1;
    } else if ((mode & 0xf000) == 0x8000) {
        file = open(path, 2);
        if (file < 0) {
            handle->file = first;
        } else {
            handle->file = file;
            close(first);
        }
        handle->kind = 0;
    } else {
        close(first);
        return -22;
    }
    return 0;
}

static void release(struct handle *handle)
{
    if (close(handle->file))
        verify(2);
}

int acquire_and_verify(const char *path, struct handle **found) //~ clean
{
    struct handle *handle = malloc(sizeof *handle);
    int status;

    if (!handle)
        return -12;
    do {
        status = acquire(path, handle);
        if (status < 0)
            break;
        if (flock(handle->file, 2)) {
            release(handle);
            status = -16;
            break;
        }
        status = verify(handle->kind);
        if (status < 0)
            release(handle);
    } while (status == -11);
    if (status < 0) {
        free(handle);
        return status;
    }
    *found = handle;
    return 0;
}

int acquire_in_spite(const char *path, struct handle *handle)
{
    if (acquire(path, handle) < 0)
        return -1;
    release(handle);
    acquire(path, handle);
    flock(handle->file, 2); //~ file/use-after-close
    return 0;
}
