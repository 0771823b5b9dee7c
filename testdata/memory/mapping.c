// Memory that files lie in, and lists that the library makes. What tells that there is none is -1, not null.
typedef __SIZE_TYPE__ size_t;
#define MAP_FAILED ((void *)-1)
void *mmap(void *where, size_t size, int protection, int flags, int number, long offset);
int munmap(void *where, size_t size);
struct addresses {
    int family;
    struct addresses *next;
};
int getaddrinfo(const char *name, const char *service, const struct addresses *hints, struct addresses **list);
void freeaddrinfo(struct addresses *list);

int left_mapped(int number, size_t size)
{
    char *bytes = mmap(0, size, 1, 2, number, 0); //~ certain heap/leak
    int first;
    if (bytes == MAP_FAILED)
        return -1;
    first = bytes[0];
    if (first == 'a')
        return -2;
    munmap(bytes, size);
    return first;
}

int unmapped(int number, size_t size) //~ clean
{
    char *bytes = mmap(0, size, 1, 2, number, 0);
    int first;
    if (bytes == MAP_FAILED)
        return -1;
    first = bytes[0];
    munmap(bytes, size);
    return first;
}

int read_when_unmapped(char *bytes, size_t size)
{
    munmap(bytes, size);
    return bytes[0]; //~ certain heap/use-after-free
}

int addresses_left(const char *name)
{
    struct addresses *list, *each;
    if (getaddrinfo(name, "http", 0, &list) != 0) //~ certain heap/leak
        return -1;
    for (each = list; each; each = each->next)
        if (each->family == 2)
            return 1;
    freeaddrinfo(list);
    return 0;
}

int addresses_freed(const char *name) //~ clean
{
    struct addresses *list, *each;
    int found = 0;
    if (getaddrinfo(name, "http", 0, &list) != 0)
        return -1;
    for (each = list; each; each = each->next)
        if (each->family == 2)
            found = 1;
    freeaddrinfo(list);
    return found;
}

int open(const char *name, int flags, ...);
int close(int number);

/* Where there is no mapping, what was taken before is still held. */
int left_open_without_a_mapping(const char *name, size_t size)
{
    int number = open(name, 0); //~ certain file/leak
    char *bytes;
    int first;
    if (number < 0)
        return -1;
    bytes = mmap(0, size, 1, 2, number, 0);
    if (bytes == MAP_FAILED)
        return -2;
    first = bytes[0];
    munmap(bytes, size);
    close(number);
    return first;
}

int closed_without_a_mapping(const char *name, size_t size) //~ clean
{
    int number = open(name, 0);
    char *bytes;
    int first = -1;
    if (number < 0)
        return -1;
    bytes = mmap(0, size, 1, 2, number, 0);
    if (bytes != MAP_FAILED) {
        first = bytes[0];
        munmap(bytes, size);
    }
    close(number);
    return first;
}

int closed_twice_without_a_mapping(const char *name, size_t size)
{
    int number = open(name, 0);
    char *bytes;
    int first;
    if (number < 0)
        return -1;
    bytes = mmap(0, size, 1, 2, number, 0);
    if (bytes == MAP_FAILED)
        close(number);
    close(number); //~ certain file/double-close
    if (bytes == MAP_FAILED)
        return -2;
    first = bytes[0];
    munmap(bytes, size);
    return first;
}

int unmapped_without_a_mapping(const char *name, size_t size)
{
    int number = open(name, 0); //~ certain file/leak
    char *bytes;
    int first;
    if (number < 0)
        return -1;
    bytes = mmap(0, size, 1, 2, number, 0);
    if (bytes == MAP_FAILED) {
        munmap(bytes, size);
        return -1;
    }
    first = bytes[0];
    munmap(bytes, size);
    close(number);
    return first;
}

int unmapped_without_a_mapping_and_closed(const char *name, size_t size) //~ clean
{
    int number = open(name, 0);
    char *bytes;
    int first;
    if (number < 0)
        return -1;
    bytes = mmap(0, size, 1, 2, number, 0);
    if (bytes == MAP_FAILED) {
        munmap(bytes, size);
        close(number);
        return -1;
    }
    first = bytes[0];
    munmap(bytes, size);
    close(number);
    return first;
}
