/* A lookup that forgets the lock on one way out: what its callers make of that is no second mistake. */
#include <pthread.h>

struct zones { pthread_mutex_t lock; int count; };
struct zone { int used; };
struct table { struct zones *zones; };

extern struct zone *zone_with(struct zones *zones, const char *name);

struct zone *find(struct table *t, const char *name)
{
	struct zone *z;
	int tries = 0;

	pthread_mutex_lock(&t->zones->lock);
	while (tries < 3 && name[tries] == '.')
		tries++;
	z = zone_with(t->zones, name + tries);
	if (!z)
		return 0; //~ lock/inconsistent-exit
	if (z->used < 0) {
		pthread_mutex_unlock(&t->zones->lock);
		return 0;
	}
	return z;
}

void drop_one(struct table *t, const char *name) //~ clean
{
	struct zone *z = find(t, name);

	if (!z) {
		pthread_mutex_unlock(&t->zones->lock);
		return;
	}
	z->used--;
	pthread_mutex_unlock(&t->zones->lock);
}
