// A function returns another pointer where its callee has failed, and tells with a number that it returns none.
typedef struct file FILE;
extern FILE *stdout;
FILE *popen(const char *command, const char *mode);
int pclose(FILE *file);
int fprintf(FILE *file, const char *format, ...);
int sprintf(char *to, const char *format, ...);
int access(const char *path, int mode);
int isatty(int file);
int strcmp(const char *one, const char *other);
char *getenv(const char *name);
void *malloc(unsigned long size);
void free(void *block);

static const char *names[] = {"pager", "more", "less", 0};
static const char *folders[] = {"/usr/bin", "/bin", 0};

static const char *find_pager(char *path)
{
    const char **i, **j;

    for (i = names; *i; i++)
        for (j = folders; *j; j++) {
            sprintf(path, "%s/%s", *j, *i);
            if (access(path, 1) == 0)
                return path;
        }
    return 0;
}

static FILE *open_pager(void)
{
    FILE *file = 0;
    const char *pager = getenv("MY_PAGER");
    char path[80];

    if (!isatty(1))
        return stdout;
    if (!pager)
        pager = getenv("PAGER");
    if (!pager)
        pager = find_pager(path);
    if (!pager || strcmp(pager, "none") == 0 || (file = popen(pager, "w")) == 0)
        return stdout;
    return file;
}

void page(void) //~ clean
{
    FILE *file = open_pager();

    fprintf(file, "text");
    if (file != stdout)
        pclose(file);
}

static FILE *open_pager_or_fail(void)
{
    const char *pager = getenv("MY_PAGER");
    FILE *file;

    if (!pager || strcmp(pager, "none") == 0)
        return stdout;
    file = popen(pager, "w");
    return file;
}

void page_untested(void)
{
    FILE *file = open_pager_or_fail();

    fprintf(file, "text"); //~ null/unchecked-result
    if (file != stdout)
        pclose(file);
}

static char **split(char *line, int *count)
{
    char **words = malloc(16 * sizeof *words);
    int quoted = 0, n = 0;

    if (!words) {
        *count = 0;
        return 0;
    }
    for (; *line; line++) {
        if (*line == '"')
            quoted = !quoted;
        else if (*line == ' ' && !quoted && n < 15)
            words[n++] = line;
    }
    if (quoted) {
        free(words);
        *count = 0;
        return 0;
    }
    words[n] = 0;
    *count = n;
    return words;
}

int first_letter(char *line) //~ clean
{
    int count, letter;
    char **words = split(line, &count);

    if (count == 0) {
        free(words);
        return 0;
    }
    letter = words[0][0];
    free(words);
    return letter;
}
