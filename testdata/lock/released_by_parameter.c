/* A release of what a parameter leads to: the callers tell whose lock that is, and the report tells the way from there. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t never_taken = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;

static void finish(pthread_mutex_t *lock)
{
    puts("done");
    pthread_mutex_unlock(lock); //~ certain lock/unlock-unheld
}

static void go_on(pthread_mutex_t *lock)
{
    finish(lock);
}

void report_twice(void)
{
    go_on(&never_taken);
}

static void end_taken(pthread_mutex_t *lock) //~ clean
{
    puts("done");
    pthread_mutex_unlock(lock);
}

void report_once(void) //~ clean
{
    pthread_mutex_lock(&taken);
    end_taken(&taken);
}
