/* A function of which nothing is known gets a block before it is freed: that is no reason to think that it is not freed twice. */
#include <stdlib.h>

extern void note(void *block);
extern int work(int n);

void freed_twice(int n)
{
    char *p = malloc(10);
    if (!p)
        return;
    note(p);
    free(p);
    if (work(n))
        free(p); //~ certain heap/double-free
}

int used_after(int n)
{
    char *p = malloc(10);
    if (!p)
        return -1;
    note(p);
    free(p);
    return work(n) ? p[0] : 0; //~ certain heap/use-after-free
}

void freed_once(int n) //~ clean
{
    char *p = malloc(10);
    if (!p)
        return;
    note(p);
    work(n);
    free(p);
}
