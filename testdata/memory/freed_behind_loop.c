/* What stands behind a loop is executed once for each of its rounds: a release there on another way through it says nothing of this one. */
void *malloc(unsigned long size);
void free(void *block);
int at_end(void *stream);
unsigned long read_some(void *stream, char *to, unsigned long size);
void take(const char *text, unsigned long length);

int sum_of(void *stream)
{
    char *buffer = malloc(4096);
    unsigned long sum, got;
    if (!buffer)
        return 1;
    while (1) {
        sum = 0;
        while (1) {
            if (at_end(stream)) {
                free(buffer);
                goto rest;
            }
            got = read_some(stream, buffer + sum, 4096 - sum);
            sum += got;
            if (sum == 4096)
                break;
            if (got == 0)
                goto rest;
        }
        take(buffer, 4096);
    }
rest:
    take(0, sum);
    free(buffer); //~ heap/double-free
    return 0;
}
