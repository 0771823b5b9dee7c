//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define SIGMA 3
static int *array;
static int array_index = 0;

static void *thread(void *arg)
{
#ifdef FIXED
    array[__sync_fetch_and_add(&array_index, 1)] = 1;
#else
    array[array_index] = 1;
    __sync_fetch_and_add(&array_index, 1);
#endif
    return 0;
}

int main(void)
{
    int tid, sum;
    pthread_t *t = malloc(sizeof(pthread_t) * SIGMA);
    array = malloc(sizeof(int) * SIGMA);
    for (tid = 0; tid < SIGMA; tid++)
        array[tid] = 0;
    for (tid = 0; tid < SIGMA; tid++)
        pthread_create(&t[tid], 0, thread, 0);
    for (tid = 0; tid < SIGMA; tid++)
        pthread_join(t[tid], 0);
    for (tid = sum = 0; tid < SIGMA; tid++)
        sum += array[tid];
    assert(sum == SIGMA);
    return 0;
}
