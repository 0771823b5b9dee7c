// A function that is handed null by a constant follows it, whatever was called before: that an earlier callee came back decides nothing.
#include <stdlib.h>

struct list {
    int count;
    void *first;
    struct list *parent;
    char **names;
};

void warn(const char *text);
int ready(void);

static void *get(size_t size)
{
    void *made = malloc(size);
    if (!made) {
        warn("out of memory");
        exit(1);
    }
    return made;
}

static void reset(struct list *list)
{
    list->count = 0;
    list->first = NULL;
    list->parent = list;
}

void clear(struct list *list)
{
    reset(list);
    list->names = NULL;
}

void fill(void)
{
    struct list *list = get(sizeof *list);
    clear(NULL); //~ null/dereference
    free(list);
}

void fill_right(void) //~ clean
{
    struct list *list = get(sizeof *list);
    clear(list);
    free(list);
}

struct client {
    struct list *list;
    int socket;
};

void tell(const struct client *client)
{
    if (client->list->count < 3)
        return;
    if (ready())
        warn("ready");
    if (ready())
        warn("again");
}

// In each round other conditions lead to the call.
int connect_any(struct client *client, int count)
{
    for (int i = 0; i < count; i++) {
        if (ready())
            continue;
        if (client->list->count > i) {
            tell(NULL); //~ null/dereference
            return 3;
        }
    }
    return -1;
}

// The function looks at what it gets.
static void clear_if_there(struct list *list)
{
    if (list)
        list->count = 0;
}

void nothing(void) //~ clean
{
    struct list *list = get(sizeof *list);
    clear_if_there(NULL);
    free(list);
}
