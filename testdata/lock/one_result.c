/* A loop whose rounds are not all executed is left where its test may decide otherwise in some other round: not where a callee has one result always. */
#include <pthread.h>
#include <stddef.h>

struct mutex { pthread_mutex_t *mutex; };
struct counter { int value; struct mutex *mutex; pthread_cond_t *changed; };

extern void *failure(int);

static void *lock(struct mutex *m)
{
	if (m) {
		int status = pthread_mutex_lock(m->mutex);

		if (status)
			return failure(status);
	}
	return NULL;
}

static void *unlock(struct mutex *m)
{
	if (m) {
		int status = pthread_mutex_unlock(m->mutex);

		if (status)
			return failure(status);
	}
	return NULL;
}

static void *wait(pthread_cond_t *changed, struct mutex *m)
{
	int status = pthread_cond_wait(changed, m->mutex);

	return status ? failure(status) : NULL;
}

#define RETURN_IF(call) do { void *failed = (call); if (failed) return failed; } while (0)

void *wait_for(struct counter *counter, int value) //~ clean
{
	int done = 0;

	do {
		RETURN_IF(lock(counter->mutex));
		if (counter->value == value)
			done = 1;
		else
			wait(counter->changed, counter->mutex);
		RETURN_IF(unlock(counter->mutex));
	} while (!done);
	return NULL;
}

int wait_for_most(struct counter *counter, int value)
{
	for (;;) {
		if (lock(counter->mutex))
			return 0;
		if (counter->value == value)
			return 1; //~ lock/inconsistent-exit
		if (counter->value > value) {
			unlock(counter->mutex);
			return 1;
		}
		unlock(counter->mutex);
	}
}
