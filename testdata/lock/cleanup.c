/* Guards: locks released when a variable's scope ends. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
int step(int);
void note(int);
#define EINVAL 22

static inline void unlock_guard(struct mutex **guard)
{
	if (*guard)
		mutex_unlock(*guard);
}

static inline struct mutex *lock_guard(struct mutex *lock)
{
	mutex_lock(lock);
	return lock;
}

#define guard(lock) \
	struct mutex *scope __attribute__((cleanup(unlock_guard), unused)) = lock_guard(lock)
#define scoped_guard(lock) \
	for (struct mutex *scope __attribute__((cleanup(unlock_guard))) = lock_guard(lock), *done = 0; \
	     !done; done = (struct mutex *)1)

struct unit { struct mutex lock; int users; int limit; };

int guarded(struct unit *u) //~ clean
{
	guard(&u->lock);

	if (u->users > u->limit)
		return -EINVAL;
	if (step(u->users))
		return -EINVAL;
	u->users++;
	return 0;
}

int guarded_twice(struct unit *u)
{
	guard(&u->lock);

	u->users++;
	mutex_lock(&u->lock); //~ lock/double-lock
	return 0;
}

/* Released by hand, and again by the guard at the end of the scope. */
int guarded_and_released(struct unit *u) //~ lock/double-unlock @guarded_and_released
{
	guard(&u->lock);

	u->users++;
	mutex_unlock(&u->lock);
	note(u->users);
	return 0;
}

int inner_scope(struct unit *u) //~ clean
{
	int users;

	{
		guard(&u->lock);
		users = u->users;
		if (users < 0)
			return -EINVAL;
	}
	mutex_lock(&u->lock);
	u->users = users + 1;
	mutex_unlock(&u->lock);
	return 0;
}

int scoped(struct unit *u) //~ clean
{
	scoped_guard(&u->lock) {
		if (u->users > u->limit)
			return -EINVAL;
		u->users++;
	}
	note(1);
	mutex_lock(&u->lock);
	u->limit++;
	mutex_unlock(&u->lock);
	return 0;
}

int jump_out(struct unit *u) //~ clean
{
	int err = -EINVAL;

	{
		guard(&u->lock);
		if (u->users)
			goto out;
		err = step(2);
	}
	note(err);
out:
	mutex_lock(&u->lock);
	u->users = 0;
	mutex_unlock(&u->lock);
	return err;
}

/* The guard gives the lock away and releases nothing. */
struct mutex *taken_over(struct unit *u) //~ clean
{
	guard(&u->lock);

	u->users++;
	struct mutex *mine = scope;
	scope = 0;
	return mine;
}
