// bad1: 401 heap/leak the copy is not freed when there are too many words
// bad2: 761 heap/bad-free the copy is freed where the last word begins
// bad3: 476 null/dereference the word behind the last blank is used though there is none
// bad4: 590 heap/bad-free the text that was handed in is freed, a literal
// ---- a
static int @_words(const char *text, int most)
{
    char *copy = strdup(text), *word = copy, *blank;
    int count = 0;

    if (copy == NULL)
        return -1;
    for (;;) {
        if (++count > most) {
            free(copy); // not bad1
            return -1;
        }
        blank = strchr(word, ' ');
        if (blank == NULL) // not bad3
            break; // not bad3
        if (count == 9) // bad3
            break; // bad3
        *blank = '\0';
        word = blank + 1;
    }
    free(word); // bad2
    free(copy); // not bad2
    free((char *) text); // bad4
    return count;
}

void @(void)
{
    printf("%d %d\n", @_words("mind the gap", 5), @_words("stand on the right", 3));
}
