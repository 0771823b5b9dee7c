//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>

static int first, second;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t two = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&one);
    first = 1;
#ifndef FIXED
    pthread_mutex_unlock(&one);
#endif
    pthread_mutex_lock(&two);
    second = first + 1;
    pthread_mutex_unlock(&two);
#ifdef FIXED
    pthread_mutex_unlock(&one);
#endif
    return NULL;
}

static void *reader(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&one);
    if (first == 0) {
        pthread_mutex_unlock(&one);
        return NULL;
    }
    int seen = first;
    pthread_mutex_lock(&two);
    assert(second == seen + 1);
    pthread_mutex_unlock(&two);
    pthread_mutex_unlock(&one);
    return NULL;
}

int main(void)
{
    pthread_t w, r;
    pthread_create(&w, 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
