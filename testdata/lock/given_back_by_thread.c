/* A mutex that is taken a second time to wait for another thread, which gives it back. */
#include <pthread.h>

struct job { pthread_mutex_t ready; int done; };

static void *serve(void *argument) //~ clean
{
	struct job *j = argument;

	j->done = 1;
	pthread_mutex_unlock(&j->ready);
	return 0;
}

int wait_for_thread(void)
{
	struct job j = { PTHREAD_MUTEX_INITIALIZER, 0 };
	pthread_t thread;

	pthread_mutex_lock(&j.ready);
	if (pthread_create(&thread, 0, serve, &j))
		return 1;
	pthread_mutex_lock(&j.ready); //~ note lock/double-lock
	return j.done;
}

/* One whose thread takes what it gives back waits for ever. */
static void *count(void *argument) //~ clean
{
	struct job *j = argument;

	pthread_mutex_lock(&j->ready);
	j->done++;
	pthread_mutex_unlock(&j->ready);
	return 0;
}

int wait_for_ever(void)
{
	struct job j = { PTHREAD_MUTEX_INITIALIZER, 0 };
	pthread_t thread;

	pthread_mutex_lock(&j.ready);
	if (pthread_create(&thread, 0, count, &j))
		return 1;
	pthread_mutex_lock(&j.ready); //~ certain lock/double-lock
	return j.done;
}

/* Known by a variable here, by a parameter there. */
static void *signal(void *argument) //~ clean
{
	pthread_mutex_unlock(argument);
	return 0;
}

int wait_for_signal(void)
{
	pthread_mutex_t ready = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;

	pthread_mutex_lock(&ready);
	if (pthread_create(&thread, 0, signal, &ready))
		return 1;
	pthread_mutex_lock(&ready); //~ note lock/double-lock
	return 0;
}
