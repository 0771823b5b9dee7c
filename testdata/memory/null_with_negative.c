// A result that is less than 0 wherever a callee leaves null, be its value too much to be told.
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

struct config {
    int references;
    char *name;
};

static struct config *current;
int reread(struct config **into, int again);

static int refresh(const char *path)
{
    struct stat st;
    int error;
    if (stat(path, &st) < 0)
        return -errno;
    if (st.st_size == 0)
        return -ENODATA;
    error = reread(&current, st.st_mtime > 100);
    return error < 0 ? error : error > 0;
}

static int update(const char *path, struct config **into)
{
    int error;
    *into = NULL;
    error = refresh(path);
    if (error >= 0) {
        if (current) {
            current->references++;
            *into = current;
        } else {
            error = -ENODEV;
        }
    }
    return error;
}

char *name_of(const char *path) //~ clean
{
    struct config *config;
    if (update(path, &config) < 0)
        return NULL;
    return config->name;
}

char *name_if_done(const char *path)
{
    struct config *config;
    if (update(path, &config) == -ENODEV)
        return NULL;
    return config->name; //~ null/dereference
}
