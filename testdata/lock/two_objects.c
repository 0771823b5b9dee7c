/* A function that takes one lock while it holds the other knows that they are two. */
typedef struct spinlock { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
struct queue { spinlock_t lock; int n; struct queue *first; int listening; };

void collect(struct queue *queue) //~ clean
{
	spin_lock(&queue->lock);
	if (queue->listening) {
		struct queue *embryo = queue->first;

		spin_lock(&embryo->lock);
		embryo->n = 0;
		spin_unlock(&embryo->lock);
	}
	spin_unlock(&queue->lock);
}

void collect_badly(struct queue *queue)
{
	spin_lock(&queue->lock);
	if (queue->listening) {
		struct queue *embryo = queue->first;

		spin_lock(&embryo->lock);
		embryo->n = 0;
		spin_unlock(&queue->lock);
	}
	spin_unlock(&queue->lock); //~ lock/double-unlock @collect_badly
}

/* Nothing says that these are two. */
void hand_over(struct queue *queue) //~ clean
{
	spin_lock(&queue->lock);
	queue->n++;
	spin_unlock(&queue->first->lock);
}
