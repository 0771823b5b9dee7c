/* Connections in a table: one is looked up under the lock, and used after it, while another thread closes it. */
#include <pthread.h>
#include <stdlib.h>

#define SLOTS 16

struct connection {
    int fd;
    int bytes;
    int users;
};

static struct connection *table[SLOTS];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

int table_open(int slot, int fd)
{
    struct connection *new = calloc(1, sizeof *new);

    if (!new)
        return -1;
    new->fd = fd;
    pthread_mutex_lock(&table_lock);
    table[slot] = new;
    pthread_mutex_unlock(&table_lock);
    return 0;
}

void table_close(int slot)
{
    struct connection *old;

    pthread_mutex_lock(&table_lock);
    old = table[slot];
#ifdef FIXED
    if (old && old->users > 0)
        old = NULL;
#endif
    if (old)
        table[slot] = NULL;
    pthread_mutex_unlock(&table_lock);
    free(old);
}

int table_count(int slot, int bytes)
{
    struct connection *found;

    pthread_mutex_lock(&table_lock);
    found = table[slot];
    if (found)
        found->users++;
    pthread_mutex_unlock(&table_lock);
    if (!found)
        return -1;
    found->bytes += bytes; //~ race/interleaved
    pthread_mutex_lock(&table_lock);
    found->users--;
    pthread_mutex_unlock(&table_lock);
    return 0;
}
