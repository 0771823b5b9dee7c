// A block that does nothing but end the program is what an assertion does where it fails, and no code that must be reached. One whose last call
// follows pointers is.
#include <stdio.h>
#include <stdlib.h>

int next_option(void);
int count;

static void __attribute__((noreturn)) usage(FILE *out)
{
    fputs("usage: program [-c]\n", out);
    fflush(out);
    exit(out == stderr);
}

void wrong_option(void)
{
    int option;
    while ((option = next_option()) != -1) {
        switch (option) {
        case 'c':
            count++;
            break;
        default:
            usage(NULL); //~ conc null/dereference
        }
    }
}

struct job { const char *name; int left; };
void __attribute__((noreturn)) die(const char *text);

int left_of(struct job *job)
{
    if (!job)
        die(job->name); //~ conc null/dereference
    return job->left;
}

int left_of_started(struct job *job)
{
    if (!job)
        die("no job");
    return job->left;
}
