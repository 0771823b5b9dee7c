/* What the world outside the program answers is for no caller and no callee to see to; asked the same, it may answer the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char storage[32];

/* Either branch may be taken first, and either one then. */
void tossed_twice(void)
{
    char *text = storage;
    if (rand() % 2) {
        text = strdup("circle line"); //~ conc heap/leak
        if (!text)
            exit(1);
    }
    if (rand() % 2)
        puts(text);
    else if (text != storage)
        free(text);
}

static int tossed(void)
{
    return rand() % 2 == 0;
}

/* The same behind a function of the program's. */
void tossed_by_another(void)
{
    char *text = strdup("northern line"); //~ conc heap/leak
    if (!text)
        exit(1);
    puts(text);
    if (tossed())
        free(text);
}

/* The variable is there both times, or not at all: nothing changes the environment in between. */
void asked_twice(void)
{
    char *text = NULL;
    if (getenv("CASSINI_LINE")) {
        text = strdup("central line");
        if (!text)
            exit(1);
        puts(text);
    }
    if (getenv("CASSINI_LINE"))
        free(text);
}

/* The one is asked for, and then the other. */
void asked_for_two(void)
{
    char *text = NULL;
    if (getenv("CASSINI_LINE")) {
        text = strdup("central line"); //~ conc heap/leak
        if (!text)
            exit(1);
        puts(text);
    }
    if (getenv("CASSINI_STATION"))
        free(text);
}

/* What callers pass they can make agree. */
void told_twice(int first, int second)
{
    char *text = NULL;
    if (first) {
        text = strdup("jubilee line"); //~ a1 heap/leak
        if (!text)
            exit(1);
        puts(text);
    }
    if (second)
        free(text);
}
