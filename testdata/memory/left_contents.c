// What lies in a block that a function makes and leaves in an out-parameter: its kind and its count of holders.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { NUMBER, STRING, COMPOUND };

struct config {
    enum kind kind;
    int holders;
    char *id;
    union {
        long number;
        char *string;
        struct {
            struct config *first;
            int joined;
        } compound;
    } u;
};

int config_make(struct config **config, const char *id, enum kind kind)
{
    struct config *made = calloc(1, sizeof(*made));
    if (!made)
        return -12;
    if (id) {
        made->id = strdup(id);
        if (!made->id) {
            free(made);
            return -12;
        }
    }
    made->kind = kind;
    made->holders = 1;
    *config = made;
    return 0;
}

void config_delete(struct config *config)
{
    if (config->holders > 1) {
        config->holders--;
        return;
    }
    switch (config->kind) {
    case COMPOUND: {
        struct config *at = config->u.compound.first;
        if (at->kind == NUMBER)
            puts("a number");
        break;
    }
    case STRING:
        free(config->u.string);
        break;
    default:
        break;
    }
    free(config->id);
    free(config);
}

int config_string(struct config **config, const char *id, const char *text) //~ clean
{
    struct config *made;
    int err = config_make(&made, id, STRING);
    if (err < 0)
        return err;
    if (text) {
        made->u.string = strdup(text);
        if (!made->u.string) {
            config_delete(made);
            return -12;
        }
    } else
        made->u.string = NULL;
    *config = made;
    return 0;
}

int config_compound(struct config **config, const char *id, struct config *first)
{
    struct config *made;
    int err = config_make(&made, id, COMPOUND);
    if (err < 0)
        return err;
    made->u.compound.first = first;
    if (!first) {
        config_delete(made); //~ null/dereference
        return -22;
    }
    *config = made;
    return 0;
}

int config_used(const char *id)
{
    struct config *made;
    int err = config_make(&made, id, NUMBER);
    if (err < 0)
        return err;
    config_delete(made);
    return made->kind; //~ heap/use-after-free
}
