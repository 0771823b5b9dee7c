/* A callee gives a lock up on some of its ways out, and nothing tells its caller on which. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t told = PTHREAD_MUTEX_INITIALIZER;

int ready(void);

static void finish(pthread_mutex_t *mutex)
{
	if (!ready()) {
		puts("too early");
		return; //~ note lock/inconsistent-exit
	}
	puts("late enough");
	pthread_mutex_unlock(mutex);
}

void run(void)
{
	pthread_mutex_lock(&lock);
	puts("running");
	finish(&lock);
} //~ lock/inconsistent-exit

/* Its result tells. */
static int finish_or_tell(pthread_mutex_t *mutex)
{
	if (!ready()) {
		puts("too early");
		return -1;
	}
	puts("late enough");
	pthread_mutex_unlock(mutex);
	return 0;
}

void run_and_ask(void) //~ clean
{
	pthread_mutex_lock(&told);
	puts("running");
	if (finish_or_tell(&told) < 0)
		pthread_mutex_unlock(&told);
}
