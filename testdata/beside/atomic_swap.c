/* An atomic exchange takes the buffer out in one step; a read and a write do not. */
#include <pthread.h>
#include <stdlib.h>

struct cache {
    pthread_mutex_t lock;
    char *page;
};

void cache_set(struct cache *cache, char *page)
{
    char *old;

    pthread_mutex_lock(&cache->lock);
#ifdef FIXED
    old = __atomic_exchange_n(&cache->page, page, __ATOMIC_SEQ_CST);
#else
    old = cache->page;
    cache->page = page;
#endif
    pthread_mutex_unlock(&cache->lock);
    free(old);
}

void cache_clear(struct cache *cache)
{
    char *old;

#ifdef FIXED
    old = __atomic_exchange_n(&cache->page, NULL, __ATOMIC_SEQ_CST);
#else
    old = cache->page;
    cache->page = NULL;
#endif
    free(old); //~ race/interleaved
}
