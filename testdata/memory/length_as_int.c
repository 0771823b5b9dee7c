// Functions that return a length as an `int`, and are asked whether that is negative.
#include <stdio.h>
#include <stdlib.h>

struct message;
int transmit(struct message *message);

static int read_word(char **word)
{
    char *buffer = calloc(1, 128);
    size_t i;
    int c = 0;

    if (!buffer)
        return -1;
    for (i = 0; i < 128 - 1; i++) {
        c = getchar();
        if (c == 0 || c == '\n')
            break;
        buffer[i] = (char)c;
    }
    if (c == 0) {
        free(buffer);
        return -1;
    }
    *word = buffer;
    return i;
}

int counted(void) //~ clean
{
    char *word = 0;
    int length = read_word(&word);

    if (length < 0)
        return -1;
    length += word[0];
    free(word);
    return length;
}

int counted_and_lost(void)
{
    char *word = 0;
    int length = read_word(&word); //~ heap/leak

    if (length < 1)
        return -1;
    length += word[0];
    free(word);
    return length;
}

struct message {
    size_t length;
    char *text;
};

static int answer(struct message *message, char **text)
{
    int status = transmit(message);

    if (status < 0)
        return status;
    *text = malloc(message->length);
    if (!*text)
        return -12;
    status = message->length;
    return status;
}

int left_by_callee(struct message *message) //~ clean
{
    char *text = 0;
    int length = answer(message, &text);

    if (length < 0)
        return length;
    free(text);
    return 0;
}

int left_by_callee_and_lost(struct message *message)
{
    char *text = 0;
    int length = answer(message, &text); //~ heap/leak

    if (length == 0)
        return length;
    free(text);
    return 0;
}

// A result may be -1.
int failed(const char *text, wchar_t *wide)
{
    int *block = malloc(sizeof *block); //~ heap/leak
    int length;

    if (!block)
        return -1;
    length = mbstowcs(wide, text, 100);
    if (length < 0)
        return -1;
    free(block);
    return length;
}
