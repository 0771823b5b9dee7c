// A function makes the buffer larger as often as a line needs it; callers read the buffer anew.
typedef __SIZE_TYPE__ size_t;
typedef struct file FILE;
extern FILE *input;
void *malloc(size_t size);
void free(void *block);
_Noreturn void exit(int status);
void *memcpy(void *to, const void *from, size_t count);
size_t strlen(const char *text);
char *fgets(char *text, int size, FILE *file);
int feof(FILE *file);
int puts(const char *text);
static unsigned char *buffer = NULL;
static size_t size = 50000;
static void expand(void)
{
    size_t n = 2 * size;
    unsigned char *b = malloc(n);
    if (b == NULL)
        exit(1);
    memcpy(b, buffer, size);
    size = n;
    free(buffer);
    buffer = b;
}
static unsigned char *line(FILE *f, unsigned char *start)
{
    unsigned char *here = start;
    for (;;) {
        size_t rlen = size - (here - buffer);
        if (rlen > 1000) {
            size_t dlen;
            if (fgets((char *)here, rlen, f) == NULL)
                return here == start ? NULL : start;
            dlen = strlen((char *)here);
            here += dlen;
            if (here > start && here[-1] == '\n')
                return start;
            if (dlen < rlen - 1 && !feof(f))
                exit(1);
        } else {
            size_t so = start - buffer, ho = here - buffer;
            expand();
            start = buffer + so;
            here = buffer + ho;
        }
    }
}
static int pattern(FILE *f, int k)
{
    unsigned char *p = buffer;
    int d = *p++;
    if (d == ' ')
        return 4;
    for (;;) {
        while (*p != 0) {
            if (*p == '\\' && p[1] != 0)
                p++;
            else if (*p == d)
                break;
            p++;
        }
        if (*p != 0)
            break;
        if ((p = line(f, p)) == NULL)
            return 3;
        if (k)
            puts((char *)p);
    }
    if (p[1] == '/')
        return 2;
    if (k > 3 && p[2] == 'x')
        return 1;
    return 0;
}
int main(int argc, char **argv) //~ clean
{
    buffer = malloc(size);
    if (buffer == NULL)
        return 1;
    while (line(input, buffer) != NULL) {
        if (*buffer == '/')
            pattern(input, argc);
        else
            puts((char *)buffer);
    }
    free(buffer);
    return 0;
}
