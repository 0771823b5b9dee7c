// A result is null where an argument is: that the argument is null is no failure of the callee's, and what is tested for it is not what
// the world outside answers.
#include <stdlib.h>

struct places {
    int number;
};

struct note {
    int number;
};

static struct note *note_for(struct places *places)
{
    if (!places)
        return NULL;
    return malloc(sizeof(struct note));
}

static int search(int start, struct places *places)
{
    struct note *note = note_for(places);
    if (start < 0) {
        free(note);
        return -1;
    }
    if (places != NULL && rand() > 10)
        places->number = 1;
    free(note);
    return start;
}

int search_without_places(void) //~ clean
{
    return search(0, NULL);
}

static int search_carelessly(int start, struct places *places)
{
    struct note *note = note_for(places);
    free(note);
    if (rand() > 10)
        places->number = 1;
    return start;
}

int search_carelessly_without_places(void)
{
    return search_carelessly(0, NULL); //~ null/dereference
}
