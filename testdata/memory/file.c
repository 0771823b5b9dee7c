// Streams and directories: closed again, used when closed, lost.
typedef struct file FILE;
typedef struct directory DIR;
struct entry;
FILE *fopen(const char *name, const char *mode);
int fclose(FILE *file);
int fgetc(FILE *file);
DIR *opendir(const char *name);
struct entry *readdir(DIR *directory);
int closedir(DIR *directory);

int left_open(const char *name)
{
    FILE *file = fopen(name, "r"); //~ certain file/leak
    int c;
    if (!file)
        return -1;
    c = fgetc(file);
    if (c < 0)
        return -1;
    fclose(file);
    return c;
}

int closed_on_all_ways(const char *name) //~ clean
{
    FILE *file = fopen(name, "r");
    int c;
    if (!file)
        return -1;
    c = fgetc(file);
    fclose(file);
    return c;
}

void closed_twice(const char *name)
{
    FILE *file = fopen(name, "r");
    if (!file)
        return;
    if (fgetc(file) < 0)
        fclose(file);
    fclose(file); //~ certain file/double-close
}

int read_when_closed(const char *name)
{
    FILE *file = fopen(name, "r");
    if (!file)
        return -1;
    fclose(file);
    return fgetc(file); //~ certain file/use-after-close
}

int not_opened(const char *name)
{
    FILE *file = fopen(name, "r");
    int c = fgetc(file); //~ certain null/unchecked-result
    fclose(file);
    return c;
}

int directory_left_open(const char *name)
{
    DIR *directory = opendir(name); //~ certain file/leak
    if (!directory)
        return -1;
    if (!readdir(directory))
        return 0;
    closedir(directory);
    return 1;
}
