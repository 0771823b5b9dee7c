/* Saturn, POPL'05, Figure 8: the three summaries. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
int spin_trylock(spinlock_t *lock);

void complex_wrapper(spinlock_t *l, int flag, int *success) //~ clean
{
	if (flag)
		*success = spin_trylock(l);
	else {
		spin_unlock(l);
		*success = 1;
	}
}

/* Uses every row of the summary rightly. */
int use_complex_wrapper(spinlock_t *l) //~ clean
{
	int success;

	complex_wrapper(l, 1, &success);
	if (!success)
		return -1;
	complex_wrapper(l, 0, &success);
	return 0;
}

/* The trylock may have failed, and then the lock is not held. */
void ignore_success(spinlock_t *l)
{
	int success;

	complex_wrapper(l, 1, &success);
	complex_wrapper(l, 0, &success); //~ certain lock/double-unlock
}

/* Forgets that the first call has released it. */
void release_twice(spinlock_t *l)
{
	int success;

	spin_lock(l);
	complex_wrapper(l, 0, &success);
	spin_unlock(l); //~ lock/double-unlock
}
