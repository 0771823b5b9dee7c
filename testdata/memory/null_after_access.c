// A function accesses what a pointer leads to, and returns null all the same, in ways that no condition of its callers tells.
#include <stdio.h>
#include <stdlib.h>

void *never_null(size_t size);

/* The word, or null at the end of the file. */
static char *next_word(FILE *file, int in_lines)
{
    int c, found = 0;
    char *word = never_null(100);
    while (found == 0) {
        c = getc(file);
        if (c == '#')
            while (c != EOF && c != '\n')
                c = getc(file);
        if (c == EOF)
            break;
        if (c == '\n')
            continue;
        if (c != ' ' && c != '\t' && !in_lines) {
            ungetc(c, file);
            break;
        }
        while (c == ' ' || c == '\t')
            c = getc(file);
        while (c != EOF && c != '\n' && c != ' ' && c != '\t') {
            found = 1;
            c = getc(file);
        }
    }
    word[0] = 0;
    if (!found) {
        free(word);
        word = NULL;
    }
    return word;
}

int words_of_file_left_open(const char *name)
{
    FILE *file = fopen(name, "r"); //~ certain file/leak
    char *word;
    int words = 0;
    if (!file)
        return -1;
    while ((word = next_word(file, 1))) {
        words++;
        free(word);
    }
    return words;
}

int words_of_file(const char *name) //~ clean
{
    FILE *file = fopen(name, "r");
    char *word;
    int words = 0;
    if (!file)
        return -1;
    while ((word = next_word(file, 1))) {
        words++;
        free(word);
    }
    fclose(file);
    return words;
}
