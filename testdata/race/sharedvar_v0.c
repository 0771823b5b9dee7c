//~ clean
// Slicing and Dicing, SharedVar v0, no error: three threads, two shared variables (its Figure 1).
#include <assert.h>
#include <pthread.h>

int x = 0, y = 1;

static void *t0(void *unused)
{
    if (x == 0) {
        if (y <= 1)
            x = x + 12;
        else
            y = y * 30;
    }
    x = x + 9;
    assert(!(x == 45));
    return unused;
}

static void *t1(void *unused)
{
    if (y >= x)
        y = y + 1;
    x++;
    return unused;
}

static void *t2(void *unused)
{
    y = y - 1;
    if (y == 9)
        y = y * 10;
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, t0, NULL);
    pthread_create(&threads[1], NULL, t1, NULL);
    pthread_create(&threads[2], NULL, t2, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
