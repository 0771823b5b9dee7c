/* Whether a result may be null, the callee tells in terms of what lies where its argument leads. */
#include <dirent.h>
#include <stdlib.h>

struct scan { DIR *dir; int count; };
void fail(void) __attribute__((noreturn));

struct scan *start(const char *path)
{
    struct scan *scan = malloc(sizeof *scan);

    if (scan == NULL)
        fail();
    scan->dir = NULL;
    if (path[0] != '\0') {
        scan->dir = opendir(path);
        if (scan->dir == NULL) {
            free(scan);
            return NULL;
        }
    }
    scan->count = 0;
    return scan;
}

struct scan *start_empty(void) //~ clean
{
    struct scan *scan = start("");

    scan->count = 1;
    return scan;
}

struct scan *start_at(const char *path)
{
    struct scan *scan = start(path);

    scan->count = 1; //~ null/unchecked-result
    return scan;
}

struct scan *start_at_root(void)
{
    struct scan *scan = start("/");

    scan->count = 1; //~ null/unchecked-result
    return scan;
}
