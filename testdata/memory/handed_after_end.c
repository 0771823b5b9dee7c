// What a function of which nothing is known is given after the end: the address of a member of a freed block is for nothing but an access, and a closed
// stream is for nothing but reading or writing. A pointer to the block itself may be a mere name for it.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

struct text {
    char *start;
    size_t length;
};

struct reader {
    int lines;
    struct text version;
    char name[16];
    struct reader *next;
};

void release_text(struct text *text);
void note_name(const char *name);
void forget(const void *key);
char *read_line(FILE *in);
int next_of(DIR *folder);

void end_before_its_member(struct reader *reader)
{
    free(reader);
    release_text(&reader->version); //~ heap/use-after-free
}

void end_before_its_name(struct reader *reader)
{
    free(reader);
    note_name(reader->name); //~ heap/use-after-free
}

void end_behind_its_member(struct reader *reader) //~ clean
{
    release_text(&reader->version);
    note_name(reader->name);
    free(reader);
}

void end_one_of_two(struct reader *reader) //~ clean
{
    struct reader *next = reader->next;
    free(reader);
    release_text(&next->version);
}

/* Clean: a table may have it as a key. */
void forget_freed(struct reader *reader) //~ clean
{
    free(reader);
    forget(reader);
}

char *read_closed(const char *name)
{
    FILE *in = fopen(name, "r");
    if (!in)
        return NULL;
    fclose(in);
    return read_line(in); //~ file/use-after-close
}

int walk_closed(const char *name)
{
    DIR *folder = opendir(name);
    if (!folder)
        return -1;
    int first = next_of(folder);
    closedir(folder);
    return first + next_of(folder); //~ file/use-after-close
}

char *read_open(const char *name) //~ clean
{
    FILE *in = fopen(name, "r");
    if (!in)
        return NULL;
    char *line = read_line(in);
    fclose(in);
    in = NULL;
    return line;
}
