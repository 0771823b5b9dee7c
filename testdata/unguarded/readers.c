/* Counts that functions read: of one they take the lock for that, of the other they do not. */
#include <pthread.h>

struct stats {
    pthread_mutex_t lock;
    long served;
    long waiting;
};

static struct stats stats = { PTHREAD_MUTEX_INITIALIZER, 0, 0 };

void serve(void)
{
    pthread_mutex_lock(&stats.lock);
    stats.served++;
    stats.waiting--;
    pthread_mutex_unlock(&stats.lock);
}

void reset(void)
{
    pthread_mutex_lock(&stats.lock);
    stats.served = 0;
    pthread_mutex_unlock(&stats.lock);
}

void come(void)
{
    pthread_mutex_lock(&stats.lock);
    stats.waiting++;
    pthread_mutex_unlock(&stats.lock);
}

void leave(void)
{
    pthread_mutex_lock(&stats.lock);
    stats.waiting--;
    pthread_mutex_unlock(&stats.lock);
}

long served(void)
{
    pthread_mutex_lock(&stats.lock);
    long served = stats.served;
    pthread_mutex_unlock(&stats.lock);
    return served;
}

int is_idle(void)
{
    pthread_mutex_lock(&stats.lock);
    int idle = stats.served == 0;
    pthread_mutex_unlock(&stats.lock);
    return idle;
}

long served_and_more(long more)
{
    pthread_mutex_lock(&stats.lock);
    more += stats.served;
    pthread_mutex_unlock(&stats.lock);
    return more;
}

/* Three others that only read it take the lock. */
long served_by(int workers)
{
#ifdef FIXED
    pthread_mutex_lock(&stats.lock);
#endif
    long each = stats.served / workers; //~ race/unguarded
#ifdef FIXED
    pthread_mutex_unlock(&stats.lock);
#endif
    return each;
}

/* Nobody takes it to read this one. */
long queue_length(void)
{
#ifdef FIXED
    pthread_mutex_lock(&stats.lock);
#endif
    long waiting = stats.waiting; //~ note race/unguarded
#ifdef FIXED
    pthread_mutex_unlock(&stats.lock);
#endif
    return waiting;
}

static void *worker(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++) {
        come();
        if (is_idle())
            leave();
        else
            serve();
    }
    reset();
    return (void *)(served() + served_and_more(1) + served_by(4) + queue_length());
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, worker, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
