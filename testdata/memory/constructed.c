/* What a function has put into the object that it returns is the caller's as well. */
#include <stdio.h>
#include <stdlib.h>

struct journal {
    FILE *file;
    char *name;
    int lines;
};

static struct journal *new_journal(const char *path)
{
    struct journal *journal = calloc(1, sizeof *journal);
    if (!journal)
        exit(1);
    journal->name = malloc(64);
    if (!journal->name)
        exit(1);
    journal->file = fopen(path, "w");
    if (!journal->file)
        exit(1);
    snprintf(journal->name, 64, "%s", path);
    return journal;
}

void all_given_back(const char *path) //~ clean
{
    struct journal *journal = new_journal(path);
    fputs(journal->name, journal->file);
    fclose(journal->file);
    free(journal->name);
    free(journal);
}

/* A note: the function does not name the member that it forgets. */
void name_forgotten(const char *path)
{
    struct journal *journal = new_journal(path); //~ note heap/leak
    fputs("end", journal->file);
    fclose(journal->file);
    free(journal);
}

void file_forgotten(const char *path)
{
    struct journal *journal = new_journal(path); //~ certain file/leak
    fputs(journal->name, journal->file);
    free(journal->name);
    free(journal);
}

static void end_journal(struct journal *journal)
{
    fclose(journal->file);
    free(journal->name);
    free(journal);
}

void given_back_by_another(const char *path) //~ clean
{
    struct journal *journal = new_journal(path);
    journal->lines = 1;
    end_journal(journal);
}

void used_behind_its_end(const char *path)
{
    struct journal *journal = new_journal(path);
    char *name = journal->name;
    end_journal(journal);
    puts(name); //~ certain heap/use-after-free
}

/* The constructor of a constructor: what it has put into the object lies there still. */
static struct journal *new_numbered_journal(const char *path, int lines)
{
    struct journal *journal = new_journal(path);
    journal->lines = lines;
    return journal;
}

struct journal *current;

void made_current(const char *path) //~ clean
{
    current = new_numbered_journal(path, 3);
}

void file_of_numbered_forgotten(const char *path)
{
    struct journal *journal = new_numbered_journal(path, 3); //~ certain file/leak
    fputs(journal->name, journal->file);
    free(journal->name);
    free(journal);
}

/* Where the constructor fails it has freed all, and there is nothing to be found behind its result. */
struct base {
    char *events;
    int number;
};

struct worker {
    struct base *base;
};

int started(char *events);

static struct base *new_base(void)
{
    struct base *base = calloc(1, sizeof *base);
    if (!base)
        return NULL;
    base->events = malloc(64);
    if (!base->events) {
        free(base);
        return NULL;
    }
    if (!started(base->events)) {
        free(base->events);
        free(base);
        return NULL;
    }
    return base;
}

static void end_base(struct base *base)
{
    if (!base)
        return;
    free(base->events);
    free(base);
}

struct worker *new_worker(void) //~ clean
{
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return NULL;
    worker->base = new_base();
    if (!worker->base) {
        end_base(worker->base);
        free(worker);
        return NULL;
    }
    return worker;
}

void ended_twice(void)
{
    struct base *base = new_base();
    if (!base)
        return;
    end_base(base);
    end_base(base); //~ certain heap/double-free //~ certain heap/use-after-free
}
