#include <locks.h>

#define LIMIT 16

struct queue {
	spinlock_t lock;
	int count;
	int items[LIMIT];
};

int queue_length(struct queue *queue);
