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

// A member says what lies beside it.
enum kind { NOTHING, NONE, SUMS, JOURNAL, SHIFT };
struct protection {
    enum kind kind;
    char *sums;
    long length, shift;
};
char *text_of(void *object);
int area_of(void *object, long *length);
int shift_of(void *object, long *shift);
int strcmp(const char *one, const char *other);
int room_for(struct protection *protection);

static int load_sums(struct protection *protection, void *object)
{
    long length;

    if (area_of(object, &length))
        return -22;
    protection->sums = malloc(length);
    if (!protection->sums)
        return -12;
    protection->length = length;
    protection->kind = SUMS;
    return 0;
}

static int load_first(const char *type, struct protection *protection, void *object)
{
    long shift;

    if (!strcmp(type, "sums")) {
        return load_sums(protection, object);
    } else if (!strcmp(type, "journal")) {
        protection->kind = JOURNAL;
    } else if (!strcmp(type, "none")) {
        protection->kind = NONE;
    } else if (!strcmp(type, "shift") || !strcmp(type, "shift-sums") ||
               !strcmp(type, "shift-journal")) {
        if (!shift_of(object, &shift))
            return -22;
        protection->kind = SHIFT;
        protection->shift = shift;
    } else {
        return -22;
    }
    return 0;
}

static int load_second(const char *type, struct protection *protection, void *object)
{
    if (!strcmp(type, "shift-sums"))
        return load_sums(protection, object);
    else if (!strcmp(type, "shift-journal"))
        protection->kind = JOURNAL;
    else
        protection->kind = NOTHING;
    return 0;
}

static int load(struct protection *protection, void *object, int first)
{
    const char *type;
    long length;
    int status;

    if (!protection || !object)
        return -22;
    status = area_of(object, &length);
    if (status < 0)
        return status;
    type = text_of(object);
    if (!type)
        return -22;
    if (first)
        return load_first(type, protection, object);
    else
        return load_second(type, protection, object);
}

static void erase(struct protection *protection)
{
    if (protection->kind == SUMS) {
        free(protection->sums);
        protection->sums = 0;
    }
}

int update(void *object) //~ clean
{
    struct protection protection;
    int status;

    status = load(&protection, object, 0);
    if (status < 0)
        return status;
    if (protection.kind != NOTHING) {
        status = room_for(&protection);
        erase(&protection);
        if (status < 0)
            return status;
    }
    return verify(3);
}

int update_badly(void *object)
{
    struct protection protection;
    int status;

    status = load(&protection, object, 0); //~ heap/leak
    if (status < 0)
        return status;
    if (protection.kind == JOURNAL)
        erase(&protection);
    return verify(3);
}
