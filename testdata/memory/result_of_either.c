// A function returns the error of one callee or the other, and leaves a message wherever it has failed: its result is a choice between numbers that it has
// compared with 0 before.

#include <stdlib.h>

struct statement;

extern int kinds[9];
int prepare(const char *text, struct statement **statement);
int bound(struct statement *statement);
int bind_number(struct statement *statement, int at, int number);
int bind_text(struct statement *statement, int at, const char *text);
int step(struct statement *statement);
int reset(struct statement *statement);
int finalize(struct statement *statement);
void log_error(const char *format, ...);
void fail(const char *format, ...) __attribute__((noreturn));

static int run(struct statement **cached, int (*callback)(void *), void *cookie, char **message,
               const char *text)
{
    int result, error = 0;
    struct statement *statement = NULL;
    if (cached && *cached)
        statement = *cached;
    else if (prepare(text, &statement))
        fail("cannot prepare");
    int count = bound(statement);
    for (int i = 1; i <= count; i++)
        switch (kinds[i]) {
        case 1:
            error = bind_number(statement, i, 0);
            break;
        case 2:
            error = bind_text(statement, i, 0);
            break;
        }
    for (;;) {
        result = step(statement);
        if (result != 100)
            break;
        if (callback(cookie)) {
            error = 4;
            break;
        }
    }
    result = cached ? reset(statement) : finalize(statement);
    if (result == 0 && error) {
        result = error;
        if (message)
            *message = malloc(8);
    } else if (result != 0 && message)
        *message = malloc(9);
    return result;
}

int begin(struct statement **cached) //~ clean
{
    char *message = NULL;
    if (run(cached, NULL, NULL, &message, "begin")) {
        log_error("%s", message);
        free(message);
        return 1;
    }
    return 0;
}

int end(struct statement **cached)
{
    char *message = NULL;
    if (run(cached, NULL, NULL, &message, "end")) //~ heap/leak
        return message ? 2 : 1;
    return 0;
}
