#define __must_hold(x)
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);

struct ring { struct mutex lock; int head; };
void push(struct ring *r);
void push_held(struct ring *r);
