// A block is used after it was freed in two places. A specification excuses the first, which lies on another way than the second.
#include <stdlib.h>

void excused_first(int all, int early, int late, char *block)
{
    if (all)
        free(block);
    if (early)
        *block = 1; //~ a1 heap/use-after-free
    if (all) {
        if (late)
            *block = 2; //~ conc heap/use-after-free
    }
}

// Here the first is as certain as the second: one mistake, told once.
void told_once(int early, char *block)
{
    free(block);
    if (early)
        *block = 1; //~ conc heap/use-after-free
    else
        *block = 2;
}

void freed_last(int all, int early, int late, char *block)
{
    if (early)
        *block = 1;
    if (late)
        *block = 2;
    if (all)
        free(block);
}
