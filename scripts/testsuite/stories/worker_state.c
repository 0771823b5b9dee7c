// bad1: 667 lock/held-on-exit the lock that a helper takes is not released on the way out
// bad2: 765 lock/double-unlock the helper releases the lock and its caller does, too
// bad3: 832 lock/unlock-unheld the helper that needs the lock is called without it
// bad4: 764 lock/double-lock the lock is taken again in the second round
// ---- header
struct worker {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int jobs;
};
// ---- a
static void @_begin(struct worker *worker)
{
    pthread_mutex_lock(&worker->lock);
}

static void @_end(struct worker *worker)
{
    if (worker->jobs > 0)
        pthread_cond_signal(&worker->wake);
    pthread_mutex_unlock(&worker->lock);
}

static int @_take(struct worker *worker)
{
    int job;

    @_begin(worker); // not bad3
    while (worker->jobs == 0) {
        if (suite_either()) {
            @_end(worker); // not bad1
            return -1;
        }
        worker->jobs = 2;
        @_begin(worker); // bad4
    }
    job = worker->jobs--;
    @_end(worker);
    pthread_mutex_unlock(&worker->lock); // bad2
    return job;
}

void @(void)
{
    static struct worker worker = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

    printf("%d\n", @_take(&worker));
}
