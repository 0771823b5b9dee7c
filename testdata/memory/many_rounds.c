// A function that returns only behind more rounds of a loop than are executed: what it does there is not known.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS 5

struct instance {
    char *name;
    int enabled;
};

static struct instance *load(struct instance *instance, FILE *file) {
    char line[80];
    int count = 0;
    while (fgets(line, sizeof line, file))
        if (line[0] != '#')
            count++;
    if (count != MEMBERS)
        exit(1);
    return instance;
}

struct instance *load_new(FILE *file) { //~ clean
    struct instance *instance = calloc(1, sizeof *instance);
    if (!instance)
        exit(1);
    return load(instance, file);
}

// The same where two rounds are enough.
static struct instance *load_two(struct instance *instance, FILE *file) {
    char line[80];
    int count = 0;
    while (fgets(line, sizeof line, file))
        if (line[0] != '#')
            count++;
    if (count != 1)
        exit(1);
    return instance;
}

struct instance *load_new_two(FILE *file) { //~ clean
    struct instance *instance = calloc(1, sizeof *instance);
    if (!instance)
        exit(1);
    return load_two(instance, file);
}

int load_and_lose(FILE *file) {
    struct instance *instance = calloc(1, sizeof *instance); //~ heap/leak
    if (!instance)
        exit(1);
    return load_two(instance, file)->enabled;
}
