// bad1: 775 file/leak the source stays open when the target cannot be opened
// bad2: 775 file/leak the target stays open when writing fails
// bad3: 775 file/leak both stay open when there is no memory
// ---- a
static int @_copy(const char *from, const char *to)
{
    int in, out, result = -1;
    char *block;
    ssize_t count;

    in = open(from, O_RDONLY);
    if (in < 0)
        return -1;
    out = open(to, O_WRONLY);
    if (out < 0) {
        close(in); // not bad1
        return -1;
    }
    block = malloc(4096);
    if (block == NULL)
        return -1; // bad3
        goto close_both; // not bad3
    while ((count = read(in, block, 4096)) > 0) {
        if (write(out, block, count) != count) {
            close(in); // bad2
            free(block); // bad2
            return -1; // bad2
            goto free_block; // not bad2
        }
    }
    if (count == 0)
        result = 0;
free_block: // not bad2
    free(block);
close_both: // not bad3
    close(out);
    close(in);
    return result;
}

void @(void)
{
    printf("%d\n", @_copy("/etc/hostname", "/dev/null"));
}
