// A callee returns one of several blocks, or null: what the call does to each is the row that it takes there, not the first of its summary.
#include <stdlib.h>
#include <string.h>

int more(char *text, size_t size);
int finish(void);

static char *read_all(int wanted)
{
    char *all = NULL, part[100];
    size_t used = 0;
    while (more(part, sizeof part)) {
        all = realloc(all, used + strlen(part) + 1);
        if (!all)
            abort();
        strcpy(all + used, part);
        used += strlen(part);
    }
    if (wanted && used == 0) {
        free(all);
        return NULL;
    }
    return all;
}

char *freed_twice(int wanted)
{
    char *all = read_all(wanted);
    if (finish() != 0) {
        free(all);
        free(all); //~ a1 heap/double-free
        return NULL;
    }
    return all;
}

char *freed_once(int wanted)
{
    char *all = read_all(wanted);
    if (finish() != 0) {
        free(all);
        return NULL;
    }
    return all;
}
