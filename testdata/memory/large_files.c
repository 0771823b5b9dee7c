// The names that functions have for large files.
#define _LARGEFILE64_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fcntl.h>

int names(const char *path)
{
    int count = 0;
    DIR *dir = opendir(path);
    if (!dir)
        return -1;
    while (readdir64(dir))
        count++;
    closedir(dir);
    return readdir64(dir) ? count : 0; //~ file/use-after-close
}

long size_of(const char *path)
{
    struct stat64 st;
    int fd = open64(path, O_RDONLY); //~ file/leak
    if (fd < 0)
        return -1;
    if (fstat64(fd, &st) < 0)
        return -1;
    close(fd);
    return st.st_size;
}

long end_of(const char *path) //~ clean
{
    FILE *f = fopen64(path, "r");
    if (!f)
        return -1;
    long end = fseeko64(f, 0, SEEK_END) ? -1 : ftello64(f);
    fclose(f);
    return end;
}
