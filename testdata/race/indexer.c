//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>

#define SIZE 8
#define MESSAGES 2
static int table[SIZE];
static int inserted;

static void insert(int value)
{
    int h = (value * 7) % SIZE;
#ifdef FIXED
    while (!__sync_bool_compare_and_swap(&table[h], 0, value))
        h = (h + 1) % SIZE;
#else
    while (table[h] != 0)
        h = (h + 1) % SIZE;
    table[h] = value;
#endif
    __sync_fetch_and_add(&inserted, 1);
}

static void *worker(void *argument)
{
    int me = (int)(long)argument;
    for (int m = 0; m < MESSAGES; m++)
        insert(me * 8 + m + 1);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    int found = 0;
    for (int i = 0; i < SIZE; i++)
        found += table[i] != 0;
    assert(found == inserted);
    return 0;
}
