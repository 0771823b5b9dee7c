/* An object's buffer is taken out under the lock of the object, and used after it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct channel {
    pthread_mutex_t lock;
    char *buffer;
    size_t used;
};

void channel_reset(struct channel *channel)
{
    pthread_mutex_lock(&channel->lock);
    free(channel->buffer);
    channel->buffer = NULL;
    channel->used = 0;
    pthread_mutex_unlock(&channel->lock);
}

int channel_last(struct channel *channel)
{
    char *buffer;
    int last = -1;

    pthread_mutex_lock(&channel->lock);
    buffer = channel->buffer;
#ifndef FIXED
    pthread_mutex_unlock(&channel->lock);
#endif
    if (buffer)
        last = buffer[0]; //~ race/interleaved
#ifdef FIXED
    pthread_mutex_unlock(&channel->lock);
#endif
    return last;
}
