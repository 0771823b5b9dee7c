// A function that reports an error ends the program if its first argument is not zero. What execution takes for granted on the way, that a
// pointer is valid, is no other way back.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sink {
    int broken;
    int used;
    char text[1000];
};

extern struct sink *sink_of(int kind);
extern char *expand(const char *message, int status);

static void put(struct sink *sink, const char *text)
{
    strcpy(sink->text + sink->used, text);
    sink->used += (int)strlen(text);
}

static void flush_sink(struct sink *sink)
{
    if (sink->broken && !sink_of(3))
        abort();
    fwrite(sink->text, 1, sink->used, stderr);
    sink->used = 0;
}

void report(int status, const char *message)
{
    struct sink *sink = sink_of(2);
    char *text = expand(message, status), *name = getenv("PROGRAM");
    if (!text)
        goto no_memory;
    if (name) {
        name = strdup(name);
        name[0] = 'P'; //~ null/unchecked-result
        put(sink, name);
        free(name);
    }
    put(sink, status ? "[" : "");
    put(sink, text);
    put(sink, status ? " aborted]" : "");
    flush_sink(sink);
    if (status)
        exit(1);
    free(text);
    return;
no_memory:
    fputs("no memory\n", stderr);
    exit(1);
}

void use_behind_error(char *name) //~ clean
{
    free(name);
    report(1, "gone");
    name[0] = 0;
}

void use_behind_warning(char *name)
{
    free(name);
    report(0, "gone");
    name[0] = 0; //~ heap/use-after-free
}

void close_behind_error(const char *path) //~ clean
{
    FILE *file = fopen(path, "r");
    if (!file)
        report(1, path);
    fclose(file);
}
