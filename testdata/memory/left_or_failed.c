// A function that leaves a new block in its caller's memory says by its result whether it has. What it leaves there and what it returns depend on
// so much that a caller sees neither of the two values.
#include <stdlib.h>
#include <string.h>

struct path;

struct entry {
    char *name;
    int leaf;
    struct path *paths;
};

struct path {
    int count;
    struct entry *entries;
};

struct paths {
    int count;
    struct path *path[];
};

static struct paths *new_paths(void)
{
    struct paths *paths = malloc(sizeof *paths);
    if (paths == NULL)
        exit(1);
    paths->count = 0;
    return paths;
}

static struct paths *add(struct paths *paths, struct path *path)
{
    if (paths->count % 10 == 0) {
        paths = realloc(paths, sizeof *paths + (paths->count + 10) * sizeof(struct path *));
        if (paths == NULL)
            exit(1);
    }
    paths->path[paths->count++] = path;
    return paths;
}

// Returns 0 and null in `matching` if nothing matches.
static int match(struct paths *paths, const char *name, struct paths **matching)
{
    int i, n;
    if (paths == NULL) {
        *matching = NULL;
        return 1;
    }
    *matching = new_paths();
    for (n = 0; n < paths->count; n++) {
        struct path *path = paths->path[n];
        for (i = 0; i < path->count; i++) {
            int same = strcmp(path->entries[i].name, name) == 0;
            if (same && path->entries[i].leaf)
                goto none;
            if (same)
                *matching = add(*matching, path->entries[i].paths);
        }
    }
    if ((*matching)->count == 0) {
        free(*matching);
        *matching = NULL;
        return 0;
    }
    return 1;
none:
    free(*matching);
    *matching = NULL;
    return 1;
}

char *next_name(void);
void use(const struct paths *paths);

void scan(struct paths *paths) //~ clean
{
    struct paths *matching;
    char *name;
    while ((name = next_name())) {
        if (!match(paths, name, &matching))
            continue;
        use(matching);
        free(matching);
    }
}

void scan_once(struct paths *paths)
{
    struct paths *matching;
    char *name = next_name();
    if (name && match(paths, name, &matching)) //~ heap/leak
        use(NULL);
}
