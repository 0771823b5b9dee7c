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
