/* Two locks of one kind in one record, and one of the two is released for the other. */
#include <pthread.h>

struct messages { pthread_mutex_t mutex; int count; };
struct client { struct messages in; struct messages out; };

int client_reset(struct client *c)
{
	pthread_mutex_lock(&c->in.mutex);
	c->in.count = 0;
	pthread_mutex_unlock(&c->out.mutex); //~ certain lock/unlock-unheld
	pthread_mutex_lock(&c->out.mutex);
	c->out.count = 0;
	pthread_mutex_unlock(&c->out.mutex);
	return 0; //~ certain lock/held-on-exit
}

/* Hand over hand: the lock that one call keeps is what the next one gives back. */
struct node { pthread_mutex_t mutex; struct node *next; int n; };

struct node *node_next(struct node *n) //~ clean
{
	struct node *next = n->next;

	pthread_mutex_lock(&next->mutex);
	pthread_mutex_unlock(&n->mutex);
	return next;
}
