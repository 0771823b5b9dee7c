/* A page found in a table or made anew: its lock is that of any page, by whatever way it was found. */
#include <pthread.h>

struct page { pthread_mutex_t mutex; int id; int full; };
struct engine { pthread_mutex_t mutex; struct page *buckets[8]; struct page *pages; int count; };

extern struct page *allocate(struct engine *e, unsigned bucket);

int write_request(struct engine *e, unsigned bucket, int *id) //~ clean
{
	struct page *p;

	pthread_mutex_lock(&e->mutex);
	p = e->buckets[bucket & 7];
	if (!p)
		p = allocate(e, bucket);
	pthread_mutex_unlock(&e->mutex);
	if (!p)
		return -1;
	pthread_mutex_lock(&p->mutex);
	if (!p->full) {
		*id = p->id;
		return 0;
	}
	pthread_mutex_unlock(&p->mutex);
	return -1;
}

/* Called after the above, with the page's number. */
void write_done(struct engine *e, int id) //~ clean
{
	struct page *p = &e->pages[id];

	p->full = 1;
	pthread_mutex_unlock(&p->mutex);
}
