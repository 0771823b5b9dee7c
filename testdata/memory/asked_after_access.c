// A pointer is followed and compared with null behind that. A comparison that is made for nothing but what it says (`if (!p) continue;`) says that the pointer
// may be null; one before a call that gets the pointer may only spare a test in the function that is called.
struct item {
    int width;
    struct item *next;
};

int count_wide(struct item *(*find)(int), int most)
{
    int wide = 0;
    for (int i = 0; i < most; i++) {
        struct item *item = find(i);
        int width = item->width; //~ null/dereference
        if (!item)
            continue;
        wide += width > 10;
    }
    return wide;
}

int is_wide(struct item *item)
{
    int known = 0;
    int width = item->width; //~ null/dereference
    if (item)
        known = 1;
    return known && width > 10;
}

int count_found(struct item *(*find)(int), int most) //~ clean
{
    int wide = 0;
    for (int i = 0; i < most; i++) {
        struct item *item = find(i);
        if (!item)
            continue;
        wide += item->width > 10;
    }
    return wide;
}

int release_all(struct item *(*find)(int), void (*release)(struct item *), int most)
{
    int wide = 0;
    for (int i = 0; i < most; i++) {
        struct item *item = find(i);
        wide += item->width > 10; //~ note null/dereference
        if (item)
            release(item);
    }
    return wide;
}

struct holder {
    struct item *item;
};

/* The test spares another one in the function that is given what holds the pointer. */
int release_held(struct holder *holder, void (*release)(struct holder *))
{
    int wide = holder->item->width > 10; //~ note null/dereference
    if (holder->item)
        release(holder);
    return wide;
}

/* The same condition has both: it says nothing of what was before it. (That `&` follows the pointer in any case is for callers who pass null.) */
int is_empty(struct item *item)
{
    int empty = 0;
    if ((item != 0) & (item->width == 0)) //~ note null/dereference
        empty = 1;
    return empty;
}
