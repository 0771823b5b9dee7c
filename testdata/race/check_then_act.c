//~ race/interleaved
//~ FIXED clean
#include <pthread.h>
#include <stdlib.h>

struct cache { int *entry; pthread_mutex_t lock; };
static struct cache cache = { NULL, PTHREAD_MUTEX_INITIALIZER };

static void *reader(void *unused)
{
    int seen = 0;
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&cache.lock);
#endif
    if (cache.entry != NULL)
        seen = *cache.entry;
#ifdef FIXED
    pthread_mutex_unlock(&cache.lock);
#endif
    return (void *)(long)seen;
}

static void *flusher(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&cache.lock);
    free(cache.entry);
    cache.entry = NULL;
    pthread_mutex_unlock(&cache.lock);
    return NULL;
}

int main(void)
{
    pthread_t r, f;
    cache.entry = malloc(sizeof *cache.entry);
    *cache.entry = 7;
    pthread_create(&r, NULL, reader, NULL);
    pthread_create(&f, NULL, flusher, NULL);
    pthread_join(r, NULL);
    pthread_join(f, NULL);
    return 0;
}
