/* Both threads find the buffer there, and both free it. */
#include <pthread.h>
#include <stdlib.h>

struct log {
    pthread_mutex_t lock;
    char *lines;
    int count;
};

void log_append(struct log *log)
{
    pthread_mutex_lock(&log->lock);
    if (log->lines)
        log->lines[log->count++ & 15] = 1; //~ race/interleaved
    pthread_mutex_unlock(&log->lock);
}

void log_reset(struct log *log)
{
#ifdef FIXED
    char *old;

    pthread_mutex_lock(&log->lock);
    old = log->lines;
    log->lines = NULL;
    pthread_mutex_unlock(&log->lock);
    free(old);
#else
    if (log->lines) {
        free(log->lines); //~ race/interleaved
        log->lines = NULL;
    }
#endif
}
