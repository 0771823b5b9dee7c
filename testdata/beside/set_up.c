/* A bus is announced once, and then taken away once: what sets it up has no other thread beside it. */
#include <pthread.h>
#include <stdlib.h>

struct monitor {
    int texts;
    char *name;
};

struct bus {
    pthread_mutex_t lock;
    struct monitor *monitor;
    int number;
};

static void monitor_init(struct bus *bus)
{
    struct monitor *monitor = calloc(1, sizeof *monitor);

    if (!monitor)
        return;
    pthread_mutex_lock(&bus->lock);
    bus->monitor = monitor;
    pthread_mutex_unlock(&bus->lock);
    bus->monitor->texts = 1;
}

void bus_added(struct bus *bus, int number)
{
    pthread_mutex_lock(&bus->lock);
    bus->number = number;
    pthread_mutex_unlock(&bus->lock);
    monitor_init(bus);
}

int bus_texts(struct bus *bus)
{
    struct monitor *monitor;
    int texts = 0;

    pthread_mutex_lock(&bus->lock);
    monitor = bus->monitor;
#ifndef FIXED
    pthread_mutex_unlock(&bus->lock);
#endif
    if (monitor)
        texts = monitor->texts; //~ race/interleaved
#ifdef FIXED
    pthread_mutex_unlock(&bus->lock);
#endif
    return texts;
}

void bus_removed(struct bus *bus)
{
    pthread_mutex_lock(&bus->lock);
    free(bus->monitor);
    bus->monitor = 0;
    pthread_mutex_unlock(&bus->lock);
}
