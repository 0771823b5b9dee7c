// bad1: 690 null/unchecked-result the wrapper that may return null is used like the one that does not
// bad2: 415 heap/double-free the macro that frees and clears was given a copy of the pointer
// bad3: 401 heap/leak the block of the program's own allocator is not released
// ---- header
void *must_allocate(size_t size);
void *may_allocate(size_t size);
void release(void *block);
#define RELEASE(block) do { release(block); (block) = NULL; } while (0)
// ---- b shared
void *must_allocate(size_t size)
{
    void *block = malloc(size);

    if (block == NULL) {
        fputs("out of memory\n", stderr);
        abort();
    }
    return block;
}

void *may_allocate(size_t size)
{
    if (size > 1000)
        return NULL;
    return malloc(size);
}

void release(void *block)
{
    if (block != NULL)
        free(block);
}
// ---- a
void @(void)
{
    struct record *record = must_allocate(sizeof(*record));
    char *label = may_allocate(100);
    struct record *same = record; // bad2

    if (label == NULL) { // not bad1
        RELEASE(record); // not bad1
        return; // not bad1
    } // not bad1
    strcpy(label, "cannon street");
    record->id = (int) strlen(label);
    printf("%d\n", record->id);
    RELEASE(record); // not bad3
    release(same); // bad2
    release(record); // not bad3
    RELEASE(label);
}
