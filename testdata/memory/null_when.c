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

// So it does in terms of several values of an argument.
enum lookup { NO_CREATE, CREATE_IF_DYNAMIC, CREATE_ALWAYS, CREATE_FROM_KERNEL, MUST_BE_NEW };
struct interface { struct interface *next; int index; };
static struct interface *interfaces;
int is_dynamic(void);

struct interface *find(int index, enum lookup lookup)
{
    struct interface *interface;

    for (interface = interfaces; interface; interface = interface->next)
        if (interface->index == index)
            return lookup == MUST_BE_NEW ? NULL : interface;
    if (lookup == NO_CREATE || lookup == CREATE_IF_DYNAMIC && !is_dynamic())
        return NULL;
    interface = malloc(sizeof *interface);
    if (!interface)
        fail();
    interface->index = index;
    interface->next = interfaces;
    interfaces = interface;
    return interface;
}

int known(int index) { return find(index, NO_CREATE) != NULL; }
int is_new(int index) { return find(index, MUST_BE_NEW) != NULL; }
int may_be_known(int index) { return find(index, CREATE_IF_DYNAMIC) != NULL; }
int is_known(int index)
{
    struct interface *interface = find(index, NO_CREATE);

    return interface ? interface->index : 0;
}

int always(int index) //~ clean
{
    return find(index, CREATE_ALWAYS)->index;
}

int from_kernel(int index) //~ clean
{
    struct interface *interface = find(index, CREATE_FROM_KERNEL);

    return interface->index;
}

int if_dynamic(int index)
{
    return find(index, CREATE_IF_DYNAMIC)->index; //~ null/unchecked-result
}
