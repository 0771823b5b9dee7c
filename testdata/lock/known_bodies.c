// Of some functions callers know what they do without looking at their definitions. What is wrong in those is told all the same.
struct mutex {
    int count;
};

void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);

struct workqueue_struct {
    struct mutex mutex;
    int flags;
    int works;
};

void destroy_workqueue(struct workqueue_struct *queue)
{
    mutex_lock(&queue->mutex);
    if (queue->works)
        return; //~ certain lock/inconsistent-exit
    queue->flags = 0;
    mutex_unlock(&queue->mutex);
}

void drain_workqueue(struct workqueue_struct *queue) //~ clean
{
    mutex_lock(&queue->mutex);
    queue->works = 0;
    mutex_unlock(&queue->mutex);
}

void given_up(struct workqueue_struct *queue) //~ clean
{
    drain_workqueue(queue);
    destroy_workqueue(queue);
}
