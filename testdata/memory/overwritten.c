// Bytes that a library's function writes into a block: what was there before is there no more.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry {
    int count;
    char address[6];
    char *name;
    struct entry *next;
};

struct table {
    unsigned count;
    struct entry *entries;
};

int unwanted(const char *name);

// The entries behind the one that goes are moved down.
void sweep(struct table *table) { //~ clean
    for (unsigned i = 0; i < table->count; i++) {
        struct entry *entry = &table->entries[i];
        if (unwanted(entry->name)) {
            free(entry->name);
            memmove(entry, entry + 1, sizeof *entry * (table->count - i - 1));
            i--;
            table->count--;
        }
    }
}

// The same without.
void sweep_in_place(struct table *table) {
    for (unsigned i = 0; i < table->count; i++) {
        struct entry *entry = &table->entries[i];
        if (unwanted(entry->name)) {
            free(entry->name); //~ heap/double-free
            i--;
            table->count--;
        }
    }
}

// As many bytes as a variable says, of which the value is known.
int copied(struct entry *to, struct entry *from) {
    size_t size = sizeof *from;
    from->next = NULL;
    memcpy(to, from, size);
    return to->next->count; //~ null/dereference
}

int copied_before(struct entry *to, const struct entry *from, size_t size) { //~ clean
    to->next = NULL;
    memcpy(to, from, size);
    return to->next->count;
}

// What is read from a file is any number.
int read_in(int file) {
    struct entry *entry = malloc(sizeof *entry); //~ heap/leak
    if (!entry)
        return -1;
    entry->count = 0;
    if (read(file, entry, sizeof *entry) != sizeof *entry) {
        free(entry);
        return -1;
    }
    if (entry->count > 0)
        return entry->count;
    free(entry);
    return 0;
}

int not_read_in(int file) { //~ clean
    struct entry *entry = malloc(sizeof *entry);
    if (!entry)
        return -1;
    entry->count = 0;
    if (entry->count > 0)
        return entry->count;
    free(entry);
    return 0;
}

int scanned(const char *text) {
    struct entry *entry = calloc(1, sizeof *entry); //~ heap/leak
    if (!entry)
        return -1;
    sscanf(text, "%d", &entry->count);
    if (entry->count > 0)
        return entry->count;
    free(entry);
    return 0;
}

// A member is written, and none behind it.
int addressed(const char *address, size_t size) {
    struct entry *entry = calloc(1, sizeof *entry);
    if (!entry)
        return -1;
    entry->name = strdup(address); //~ heap/leak
    memcpy(entry->address, address, size);
    free(entry);
    return 0;
}

static void set_address(char *to, const char *address, size_t size) {
    memcpy(to, address, size);
    for (size_t i = 0; i < size; i++)
        to[i] ^= 0x20;
}

int addressed_by_callee(const char *address, size_t size) {
    struct entry *entry = calloc(1, sizeof *entry);
    if (!entry)
        return -1;
    entry->name = strdup(address); //~ heap/leak
    set_address(entry->address, address, size);
    free(entry);
    return 0;
}

int named(const char *address, size_t size) { //~ clean
    struct entry *entry = calloc(1, sizeof *entry);
    if (!entry)
        return -1;
    entry->name = strdup(address);
    set_address(entry->address, address, size);
    free(entry->name);
    free(entry);
    return 0;
}
