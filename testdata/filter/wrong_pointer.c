// What an execution that ends with one failure does not come to is no reason to believe in another one less: that `res` is null makes the code
// behind line 13 dead, so it excuses nothing there.
#include <stdlib.h>
#include <unistd.h>

struct value {
    unsigned length, data[4];
};

int load(struct value **res, int fd, size_t size)
{
    ssize_t got;
    *res = malloc(size); //~ conc null/dereference
    if (res == NULL)
        return -1;
    got = read(fd, *res, size);
    if (got < 0 || (size_t)got != size) {
        free(*res);
        *res = NULL;
    }
    if ((*res)->length > size) //~ conc null/dereference
        return -2;
    return 0;
}

int load_and_return(struct value **res, int fd, size_t size)
{
    ssize_t got;
    *res = malloc(size);
    if (*res == NULL)
        return -1;
    got = read(fd, *res, size);
    if (got < 0 || (size_t)got != size) {
        free(*res);
        *res = NULL;
        return -1;
    }
    if ((*res)->length > size)
        return -2;
    return 0;
}
