/* Functions that are called through pointers and by threads: who calls them gives no lock back that nothing else does. */
#include <pthread.h>

static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int value;

struct operations { int (*add)(int); int (*begin)(int); int (*end)(int); };

static int add(int n)
{
	pthread_mutex_lock(&state);
	if (n < 0)
		return -1; //~ certain lock/held-on-exit
	value += n;
	pthread_mutex_unlock(&state);
	return 0;
}

/* One of a table keeps what another gives back. */
static int begin(int n) //~ clean
{
	pthread_mutex_lock(&turn);
	if (n) {
		pthread_mutex_unlock(&turn);
		return -1;
	}
	return 0;
}

static int end(int n) //~ clean
{
	value = n;
	pthread_mutex_unlock(&turn);
	return 0;
}

const struct operations operations = { add, begin, end };

/* A thread's own steps. */
struct worker { pthread_mutex_t lock; int stop, count; };

static int step(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	if (w->count > 9)
		return -1; //~ certain lock/held-on-exit
	w->count++;
	pthread_mutex_unlock(&w->lock);
	return 0;
}

static void *run(void *argument) //~ clean
{
	struct worker *w = argument;

	while (!w->stop)
		if (step(w))
			break;
	return 0;
}

int start(struct worker *w) //~ clean
{
	pthread_t thread;

	return pthread_create(&thread, 0, run, w);
}
