/* An endless loop is left by its returns alone, and not by one that cannot happen. */
#include <pthread.h>

struct task { struct task *next; void (*run)(struct task *); };
struct pool { pthread_mutex_t mtx; pthread_cond_t cond; struct task *first; int stop; };

static int lock(pthread_mutex_t *mtx)
{
	int err = pthread_mutex_lock(mtx);

	if (err == 0)
		return 0;
	return -1;
}

static int unlock(pthread_mutex_t *mtx)
{
	int err = pthread_mutex_unlock(mtx);

	if (err == 0)
		return 0;
	return -1;
}

void *cycle(void *data) //~ clean
{
	struct pool *pool = data;
	struct task *task;

	for (;;) {
		if (lock(&pool->mtx) != 0)
			return 0;
		while (pool->first == 0) {
			if (pthread_cond_wait(&pool->cond, &pool->mtx) != 0) {
				unlock(&pool->mtx);
				return 0;
			}
		}
		task = pool->first;
		pool->first = task->next;
		if (unlock(&pool->mtx) != 0)
			return 0;
		task->run(task);
	}
}

void *cycle_badly(void *data)
{
	struct pool *pool = data;
	struct task *task;

	for (;;) {
		if (lock(&pool->mtx) != 0)
			return 0;
		if (pool->stop)
			return 0; //~ lock/inconsistent-exit
		task = pool->first;
		pool->first = task->next;
		if (unlock(&pool->mtx) != 0)
			return 0;
		if (task->run == 0)
			return 0;
		task->run(task);
	}
}
