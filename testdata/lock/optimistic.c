/* A function that takes its lock only where it cannot do without. */
typedef struct spinlock { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
struct ref { spinlock_t lock; int count; int contended; };

/* 0 with the lock held if it was the last reference. */
static int put_or_lock(struct ref *ref) //~ clean
{
	if (!ref->contended) {
		ref->count--;
		return 1;
	}
	spin_lock(&ref->lock);
	if (ref->count <= 1)
		return 0;
	ref->count--;
	spin_unlock(&ref->lock);
	return 1;
}

void put(struct ref *ref) //~ clean
{
	if (put_or_lock(ref))
		return;
	ref->count = 0;
	spin_unlock(&ref->lock);
}

/* There is code for the outcome that only comes where the lock was taken once more. */
void put_under_lock(struct ref *ref)
{
	spin_lock(&ref->lock);
	if (put_or_lock(ref)) { //~ lock/double-lock
		spin_unlock(&ref->lock);
		return;
	}
	ref->count = 0;
	spin_unlock(&ref->lock);
}

/* The callee may know that nobody contends. */
void get_and_put(struct ref *ref)
{
	spin_lock(&ref->lock);
	ref->count++;
	put_or_lock(ref); //~ note lock/double-lock
	spin_unlock(&ref->lock);
}
