// What starts a process has none where its result is negative: fork answers -1, and nothing less.

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pid_t start(FILE **in, FILE **out)
{
    int to[2], from[2];
    pid_t pid;
    if (in) {
        *in = NULL;
        if (pipe(to) == -1)
            return -1;
    }
    if (out) {
        *out = NULL;
        if (pipe(from) == -1) {
            if (in) {
                close(to[0]);
                close(to[1]);
            }
            return -1;
        }
    }
    if ((pid = fork()) == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(127);
    } else if (pid == -1) {
        if (in) {
            close(to[0]);
            close(to[1]);
        }
        if (out) {
            close(from[0]);
            close(from[1]);
        }
        return -1;
    }
    if (in) {
        close(to[0]);
        if (!(*in = fdopen(to[1], "w")))
            abort();
    }
    if (out) {
        close(from[1]);
        if (!(*out = fdopen(from[0], "r")))
            abort();
    }
    return pid;
}

int look(void) //~ clean
{
    FILE *out = NULL;
    if (start(NULL, &out) < 0)
        return -1;
    if (out)
        fclose(out);
    return 0;
}

int look_and_forget(void)
{
    FILE *out = NULL;
    if (start(NULL, &out) < 0) //~ file/leak
        return -1;
    return 0;
}
