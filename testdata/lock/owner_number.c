/* A lock whose holder knows itself by its number, in a static variable. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
unsigned long own_number(void);
int wait_for_work(void);

struct pool { struct mutex control; int exit; };

/* Only the thread that has taken the lock finds its number in `owner`: what is there on entry, another one has written. */
int worker(struct pool *pool)
{
	static unsigned long owner = 0;

	mutex_lock(&pool->control);
	mutex_unlock(&pool->control);
	if (owner == 0) {
		mutex_lock(&pool->control);
		owner = own_number();
	}
	while (wait_for_work())
		;
	if (own_number() == owner)
		mutex_unlock(&pool->control); //~ known-false-positive lock/double-unlock
	return 0;
}

/* The same without a look at who it is. */
int worker_that_forgets(struct pool *pool)
{
	static unsigned long owner = 0;

	mutex_lock(&pool->control);
	mutex_unlock(&pool->control);
	if (owner == 0) {
		mutex_lock(&pool->control);
		owner = own_number();
	}
	while (wait_for_work())
		;
	mutex_unlock(&pool->control); //~ certain lock/double-unlock
	return 0;
}
