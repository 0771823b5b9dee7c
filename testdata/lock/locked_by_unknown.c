/* A global lock that a function of another file takes, as its name says. */
#include <pthread.h>

extern pthread_mutex_t root_mutex;
extern void root_lock_and_drain(void);
extern void root_drain(void);
static int mounts;

int remount(int n) //~ clean
{
	root_lock_and_drain();
	mounts += n;
	pthread_mutex_unlock(&root_mutex);
	return 0;
}

int unmount(int n)
{
	root_drain();
	mounts -= n;
	pthread_mutex_unlock(&root_mutex); //~ certain lock/unlock-unheld
	return 0;
}

int count(void) //~ clean
{
	int n;

	pthread_mutex_lock(&root_mutex);
	n = mounts;
	pthread_mutex_unlock(&root_mutex);
	return n;
}
