// bad1: 401 heap/leak the entry is not freed when its value cannot be copied
// bad2: 401 heap/leak the value is not freed with its entry
// bad3: 416 heap/use-after-free the next entry is read from the freed one
// bad4: 690 null/unchecked-result the result of the search is used unchecked
// bad5: 415 heap/double-free the value of the entry is freed on the error path and with the entry
// ---- header
struct entry {
    struct entry *next;
    char *key;
    char *value;
};

struct config {
    struct entry *entries;
    int count;
};
// ---- a
static void @_free_entry(struct entry *entry)
{
    free(entry->key);
    free(entry->value); // not bad2
    free(entry);
}

static void @_free_config(struct config *config)
{
    struct entry *entry = config->entries;

    while (entry != NULL) {
        struct entry *next = entry->next; // not bad3
        @_free_entry(entry);
        entry = next; // not bad3
        entry = entry->next; // bad3
    }
    config->entries = NULL;
}

static int @_set(struct config *config, const char *key, const char *value)
{
    struct entry *entry = calloc(1, sizeof(*entry));

    if (!entry)
        return -1;
    entry->key = strdup(key);
    if (!entry->key) {
        free(entry);
        return -1;
    }
    entry->value = strdup(value);
    if (!entry->value || suite_either()) {
        free(entry->value); // bad5
        @_free_entry(entry); // not bad1
        return -1;
    }
    entry->next = config->entries;
    config->entries = entry;
    config->count++;
    return 0;
}

static const struct entry *@_find(const struct config *config, const char *key)
{
    const struct entry *entry;

    for (entry = config->entries; entry; entry = entry->next)
        if (!strcmp(entry->key, key))
            return entry;
    return NULL;
}

void @(void)
{
    struct config config = {NULL, 0};
    const struct entry *found;

    if (@_set(&config, "line", "victoria") == 0 && @_set(&config, "zone", "2") == 0) {
        found = @_find(&config, "colour");
        if (found != NULL) // not bad4
        printf("%s\n", found->value);
    }
    @_free_config(&config);
}
