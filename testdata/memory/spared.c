// A function that closes a file or leaves it, and nothing says which: what it is given a second time it may leave, too.

#include <stdio.h>
#include <stdlib.h>

struct log {
    FILE *file;
    const char *name;
    unsigned char kind;
    unsigned char flags;
    long from, to;
};

extern struct log log_of_peers;
int log_control;
long now(void);
FILE *open_file(struct log *log);

static void open_log(struct log *log, long now)
{
    FILE *file = open_file(log);
    if (file == NULL) {
        if (log->file != NULL) {
            fclose(log->file);
            log->file = NULL;
        }
        return;
    }
    if (log->file != NULL)
        fclose(log->file);
    log->file = file;
    log->from = now;
    log->to = now + 86400;
}

void set_up(struct log *log, long now)
{
    int current;
    if (!(log->flags & 2)) {
        if (log->file != NULL) {
            fclose(log->file);
            log->file = NULL;
        }
        return;
    }
    switch (log->kind) {
    case 1:
        current = log->from <= now && log->to > now;
        break;
    case 2:
        current = log->from == 7;
        break;
    default:
        current = 1;
        break;
    }
    if (log->file == NULL || !current)
        open_log(log, now);
}

void record(const char *text)
{
    if (!log_control)
        return;
    set_up(&log_of_peers, now());
    if (log_of_peers.file != NULL) {
        fputs(text, log_of_peers.file);
        fflush(log_of_peers.file);
    }
}

int print(const char *text)
{
    if (log_control)
        record(text);
    return 1;
}

void say(const char *text)
{
    puts(text);
    print(text);
}

void tell_all(const char *first, const char *second, const char *third)
{
    say(first);
    say(second); //~ clean
    say(third); //~ clean
}

/* The same with a function that closes it in any case. */
static void shut(FILE *file)
{
    fclose(file);
}

void shut_twice(FILE *file)
{
    shut(file);
    shut(file); //~ file/double-close
}
