/* In the process that `fork` has made there is one thread: it needs no lock. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct log {
    pthread_mutex_t lock;
    char *name;
    int lines;
};

static struct log journal;

void log_line(void)
{
    pthread_mutex_lock(&journal.lock);
    journal.lines++;
    pthread_mutex_unlock(&journal.lock);
}

void log_reset(void)
{
    pthread_mutex_lock(&journal.lock);
    journal.lines = 0;
    journal.name = 0;
    pthread_mutex_unlock(&journal.lock);
}

int log_count(void)
{
    int lines;

    pthread_mutex_lock(&journal.lock);
    lines = journal.lines;
    pthread_mutex_unlock(&journal.lock);
    return lines;
}

static void start_again(void)
{
    journal.lines = 0;
    free(journal.name);
    journal.name = 0;
}

static void forget(void)
{
#ifdef FIXED
    pthread_mutex_lock(&journal.lock);
#endif
    journal.lines = 0; //~ race/unguarded
#ifdef FIXED
    pthread_mutex_unlock(&journal.lock);
#endif
}

static void *work(void *unused)
{
    pid_t pid = fork();

    if (pid == 0) {
        journal.lines = 1;
        start_again();
        _exit(log_count());
    }
    log_line();
    if (pid < 0)
        forget();
    log_reset();
    return unused;
}

int main(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
