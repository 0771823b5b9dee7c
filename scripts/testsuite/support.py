"""The two files that every case has: what the templates share, and the conditions that are decided in another file."""

HEADER = """\
#ifndef SUITE_H
#define SUITE_H

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <threads.h>
#include <unistd.h>

struct record {
    int id;
    long total;
    char label[24];
};

struct owner {
    int count;
    char *name;
    struct record *record;
    FILE *log;
};

typedef int (*operation)(int);

/* In suite.c. The globals are written nowhere. */
extern int suite_true;
extern int suite_false;
extern const int suite_constant_five;
int suite_returns_true(void);
int suite_returns_false(void);
int suite_either(void);
int suite_twice(int number);
char *suite_name(void);

#endif
"""

SOURCE = """\
#include "suite.h"

int suite_true = 1;
int suite_false = 0;
const int suite_constant_five = 5;

int suite_returns_true(void)
{
    return 1;
}

int suite_returns_false(void)
{
    return 0;
}

/* Neither analyser nor reader can tell which. */
int suite_either(void)
{
    return getenv("SUITE_EITHER") != NULL;
}

int suite_twice(int number)
{
    return 2 * number;
}

char *suite_name(void)
{
    static char name[] = "piccadilly";
    return name;
}
"""
