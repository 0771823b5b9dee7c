// A program that has a function of the name of one of Linux's: it is the program's own, by whatever header of the C library it is seen to be one.
#include <string.h>

struct words {
    size_t first;
};

static struct words words;

struct words *argv_split(const char *text, const char *separators) { //~ clean
    words.first = strcspn(text, separators);
    return &words;
}

size_t first_word(const char *text) { //~ clean
    struct words *found = argv_split(text, " \t");
    return found->first;
}
