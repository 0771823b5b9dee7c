/* A function with more conditions than one execution has names for: it is executed again for less, and its callers
   see that the lock may be held then. No finding rests on that. */
#include <pthread.h>
#include <stdbool.h>

struct unit {
	pthread_mutex_t lock;
	bool asked[4096];
	int state;
};

void note(struct unit *u);

#define ONE(i) if (u->asked[i]) note(u);
#define FOUR(i) ONE(i) ONE(i + 1) ONE(i + 2) ONE(i + 3)
#define SIXTEEN(i) FOUR(i) FOUR(i + 4) FOUR(i + 8) FOUR(i + 12)
#define MANY(i) SIXTEEN(i) SIXTEEN(i + 16) SIXTEEN(i + 32) SIXTEEN(i + 48)
#define MANY_MORE(i) MANY(i) MANY(i + 64) MANY(i + 128) MANY(i + 192)
#define VERY_MANY MANY_MORE(0) MANY_MORE(256) MANY_MORE(512) MANY_MORE(768) MANY_MORE(1024) MANY_MORE(1280) \
	MANY_MORE(1536) MANY_MORE(1792) MANY_MORE(2048)

static void begin(struct unit *u)
{
	VERY_MANY
	pthread_mutex_lock(&u->lock);
}

/* The lock is the one that the callee has taken. */
void finish(struct unit *u) //~ clean
{
	begin(u);
	u->state++;
	pthread_mutex_unlock(&u->lock);
}

void begin_again(struct unit *u)
{
	begin(u);
	pthread_mutex_lock(&u->lock); //~ known-miss lock/double-lock
	pthread_mutex_unlock(&u->lock);
}
