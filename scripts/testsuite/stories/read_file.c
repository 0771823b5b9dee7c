// bad1: 775 file/leak the file stays open when its size is unknown
// bad2: 775 file/leak the file stays open when there is no memory for it
// bad3: 401 heap/leak, unseen the text is not freed when the file cannot be read
// bad4: 416 heap/use-after-free the text is printed after it was freed
// bad5: 690 null/unchecked-result the file is read though it may not have been opened
// ---- a
static char *@_read(const char *path, long *length)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size;

    if (file == NULL) // not bad5
        return NULL; // not bad5
    if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 || suite_either())
        return NULL; // bad1
        goto out; // not bad1
    rewind(file);
    text = malloc(size + 1);
    if (text == NULL)
        return NULL; // bad2
        goto out; // not bad2
    if (fread(text, 1, size, file) != (size_t) size) {
        free(text); // not bad3
        text = NULL;
        goto out;
    }
    text[size] = '\0';
    *length = size;
out:
    fclose(file);
    return text;
}

void @(void)
{
    long length = 0;
    char *text = @_read("/etc/hostname", &length);

    if (text == NULL) {
        puts("nothing");
        return;
    }
    printf("%ld bytes\n", length);
    free(text); // bad4
    puts(text);
    free(text); // not bad4
}
