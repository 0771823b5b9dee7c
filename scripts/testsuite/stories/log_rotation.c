// bad1: 775 file/leak the old log is overwritten while it is open
// bad2: 404 file/leak the log is freed without its file
// bad3: 476 null/dereference the log is written to where it could not be opened
// ---- header
struct journal {
    FILE *file;
    long lines;
};
// ---- a
static int @_reopen(struct journal *journal, const char *path)
{
    FILE *file = fopen(path, "w");

    if (file == NULL)
        return -1;
    if (journal->file != NULL) // not bad1
        fclose(journal->file); // not bad1
    journal->file = file;
    return 0;
}

static void @_write(struct journal *journal, const char *text)
{
    fprintf(journal->file, "%ld %s\n", ++journal->lines, text);
}

static void @_close(struct journal *journal)
{
    if (journal->file != NULL) // not bad2
        fclose(journal->file); // not bad2
    free(journal);
}

void @(void)
{
    struct journal *journal = calloc(1, sizeof(*journal));

    if (journal == NULL)
        return;
    if (@_reopen(journal, "/dev/null") < 0) {
        @_close(journal);
        return;
    }
    @_write(journal, "first");
    if (@_reopen(journal, "/dev/null") < 0)
        puts("still the old one");
    if (suite_either()) { // bad3
        fclose(journal->file); // bad3
        journal->file = NULL; // bad3
    } // bad3
    @_write(journal, "second");
    @_close(journal);
}
