// bad1: 415 heap/double-free the entry that could not be added is freed by both functions
// bad2: 401 heap/leak the entry that could not be added is freed by neither
// bad3: 416 heap/use-after-free the entry is counted after it was replaced
// ---- header
struct item {
    char *name;
    int hits;
};

struct cache {
    struct item *slots[4];
    int used;
};
int bad_add(struct cache *cache, struct item *item);
int good_add(struct cache *cache, struct item *item);
// ---- b
static void @_drop(struct item *item)
{
    free(item->name);
    free(item);
}

/* On failure the item is still the caller's. */
int @_add(struct cache *cache, struct item *item)
{
    int at = item->name[0] & 3;

    if (cache->used > 2 || suite_either()) {
        @_drop(item); // bad1
        return -1;
    }
    if (cache->slots[at] != NULL) {
        @_drop(cache->slots[at]);
        cache->slots[at]->hits++; // bad3
    }
    cache->slots[at] = item;
    cache->used++;
    return 0;
}
// ---- a
static struct item *@_item(const char *name)
{
    struct item *item = calloc(1, sizeof(*item));

    if (item == NULL)
        return NULL;
    item->name = strdup(name);
    if (item->name == NULL) {
        free(item);
        return NULL;
    }
    return item;
}

void @(void)
{
    static struct cache cache;
    const char *names[] = {"bank", "bond street"};

    for (int at = 0; at < 2; at++) {
        struct item *item = @_item(names[at]);
        if (item == NULL)
            return;
        if (@_add(&cache, item) < 0) {
            free(item->name); // not bad2
            free(item); // not bad2
            return;
        }
    }
}
