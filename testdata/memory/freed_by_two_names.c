// A function that frees what two members lead to unless they are the same: its summary takes them for two blocks, and here they are one.
#include <stdlib.h>
#include <string.h>

struct text {
    struct text *next;
    char *shown, *match;
};

struct set {
    struct set *next;
    struct text *texts;
};

static void free_sets(struct set *set)
{
    struct set *next;
    struct text *text, *after;
    for (; set; set = next) {
        next = set->next;
        for (text = set->texts; text; text = after) {
            after = text->next;
            free(text->shown);
            if (text->match != text->shown)
                free(text->match);
            free(text);
        }
        free(set);
    }
}

int make_and_free(char **words) //~ clean
{
    struct set *set = calloc(1, sizeof *set);
    struct text **last, *text;
    if (!set)
        return -1;
    for (last = &set->texts; *words; words++) {
        *last = text = calloc(1, sizeof *text);
        if (!text)
            break;
        last = &text->next;
        text->shown = text->match = strdup(*words);
    }
    free_sets(set);
    return 0;
}

static void free_both(struct text *text)
{
    free(text->shown);
    free(text->match);
}

// The callee frees each: that it is handed one block twice is seen by its two calls.
void freed_before(struct text *text)
{
    free(text->match);
    free_both(text); //~ certain heap/double-free
}

struct room {
    int used;
    char *text;
};

static void close_room(struct room *room)
{
    free(room->text);
    free(room);
}

static inline int used_in(struct room *room)
{
    return room->used;
}

int used_behind(struct room *room)
{
    close_room(room);
    return used_in(room); //~ certain heap/use-after-free
}
