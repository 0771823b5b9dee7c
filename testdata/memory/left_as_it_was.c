// A callee makes a block and leaves it in an out-parameter on some of its paths: on the others the variable is as it was, and leads to
// nothing that the callee has made.

#include <stdlib.h>

static void *get_memory(size_t count, size_t size)
{
    void *block = calloc(count, size);
    if (!block)
        abort();
    return block;
}

int make_words(int count, char ***words)
{
    if (count == 0)
        return 0;
    *words = get_memory(count, sizeof **words);
    return 0;
}

int one_at_least(int count)
{
    char **words;
    make_words(count, &words); //~ clean
    if (count == 0)
        words = get_memory(1, sizeof *words);
    free(words);
    return 0;
}

int one_in_any_case(int count)
{
    char **words;
    make_words(count, &words); //~ heap/leak
    if (count < 4)
        words = get_memory(1, sizeof *words);
    free(words);
    return 0;
}
