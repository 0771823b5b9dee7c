/* A function that makes a record only if it gets none: what the caller has handed in is not allocated by it. */
#include <stdlib.h>

struct queue {
	int first, last;
};

struct request {
	int id;
	struct queue in;
	struct queue out;
	char *cache;
};

static struct queue *queue_init(struct queue *queue)
{
	if (!queue) {
		queue = calloc(1, sizeof *queue);
		if (!queue)
			abort();
	}
	queue->first = 1;
	queue->last = 1;
	return queue;
}

int init(struct request *request, int size) //~ clean
{
	queue_init(&request->in);
	queue_init(&request->out);
	request->cache = calloc(size, 1);
	return request->cache ? 0 : -1;
}

int lost(int way)
{
	struct queue *queue = queue_init(NULL); //~ heap/leak

	if (way)
		return queue->first;
	free(queue);
	return 0;
}

int returned_to_the_heap(int way) //~ clean
{
	struct queue *queue = queue_init(NULL);
	int first = queue->first;

	free(queue);
	return way ? first : 0;
}
