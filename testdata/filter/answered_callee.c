/* A callee that ends an object on some of its ways only, and nobody but the world outside decides which: its caller cannot know. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_and_free(char *text)
{
    puts(text);
    if (rand() % 2)
        free(text);
}

void never_freed_at_times(void)
{
    char *text = strdup("northern line"); //~ conc heap/leak
    if (!text)
        exit(1);
    print_and_free(text);
}

static void read_header(int file)
{
    char bytes[8];
    if (read(file, bytes, 8) != 8) {
        puts("too short");
        return;
    }
    close(file);
}

void open_if_too_short(void)
{
    int file = open("/etc/hostname", O_RDONLY); //~ conc file/leak
    if (file < 0)
        exit(1);
    read_header(file);
}

/* Here the result tells. */
static int read_all(int file)
{
    char bytes[8];
    if (read(file, bytes, 8) != 8)
        return -1;
    close(file);
    return 0;
}

void closed_either_way(void)
{
    int file = open("/etc/hostname", O_RDONLY);
    if (file < 0)
        exit(1);
    if (read_all(file) < 0)
        close(file);
}

/* Here an argument does. */
static void print_last(char *text, int last)
{
    puts(text);
    if (last)
        free(text);
}

void told_by_argument(void)
{
    char *text = strdup("central line");
    if (!text)
        exit(1);
    print_last(text, 0);
    print_last(text, 1);
}
