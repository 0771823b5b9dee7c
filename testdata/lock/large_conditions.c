/* Conditions that outgrow a decision diagram: of so many flags, in the order in which they are met first,
   that both halves together have a node for each set of them. */
#include <pthread.h>
#include <stdbool.h>

struct unit {
	pthread_mutex_t lock;
	bool asked[7], wanted[7], granted[7], given[7];
	int state;
};

void note(struct unit *u);

#define SOME(a) (u->a[0] || u->a[1] || u->a[2] || u->a[3] || u->a[4] || u->a[5] || u->a[6])
#define BOTH(i, a, b) (u->a[i] && u->b[i])
#define ANY(a, b) (BOTH(0, a, b) || BOTH(1, a, b) || BOTH(2, a, b) || BOTH(3, a, b) || BOTH(4, a, b) || BOTH(5, a, b) \
	|| BOTH(6, a, b))

/* The lock is taken again where both hold. */
int grant(struct unit *u)
{
	bool asked, wanted;

	if (SOME(asked) || SOME(wanted) || SOME(granted) || SOME(given))
		note(u);
	asked = ANY(asked, granted);
	wanted = ANY(wanted, given);
	pthread_mutex_lock(&u->lock);
	if (asked && wanted)
		pthread_mutex_lock(&u->lock); //~ lock/double-lock
	u->state++;
	pthread_mutex_unlock(&u->lock);
	return 0;
}

/* What holds at the first test holds at the second, however it is written. */
int grant_once(struct unit *u) //~ clean
{
	bool asked, wanted;

	if (SOME(asked) || SOME(wanted) || SOME(granted) || SOME(given))
		note(u);
	asked = ANY(asked, granted);
	wanted = ANY(wanted, given);
	if (asked && wanted)
		pthread_mutex_lock(&u->lock);
	u->state++;
	if (!(!wanted || !asked))
		pthread_mutex_unlock(&u->lock);
	return 0;
}

/* A way out under the lock that depends on both: its callers cannot tell. */
int grant_and_go(struct unit *u)
{
	bool asked, wanted;

	if (SOME(asked) || SOME(wanted) || SOME(granted) || SOME(given))
		note(u);
	asked = ANY(asked, granted);
	wanted = ANY(wanted, given);
	pthread_mutex_lock(&u->lock);
	if (asked && wanted)
		return 0; //~ lock/inconsistent-exit @grant_and_go
	u->state++;
	pthread_mutex_unlock(&u->lock);
	return 0;
}

static int take_if_granted(struct unit *u)
{
	bool asked, wanted;

	if (SOME(asked) || SOME(wanted) || SOME(granted) || SOME(given))
		note(u);
	asked = ANY(asked, granted);
	wanted = ANY(wanted, given);
	if (asked && wanted) {
		pthread_mutex_lock(&u->lock);
		return 1;
	}
	return 0;
}

/* Its result tells. */
void use(struct unit *u) //~ clean
{
	if (take_if_granted(u)) {
		u->state++;
		pthread_mutex_unlock(&u->lock);
	}
}

void use_wrongly(struct unit *u)
{
	if (take_if_granted(u)) {
		u->state++;
		pthread_mutex_lock(&u->lock); //~ lock/double-lock
	}
}
