/* What is wrong in one way may be wrong in another: a note about a function is no reason to say nothing else of it. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
void *make(int);
int check(void *);

struct inner { int count; struct mutex lock; };
struct outer { int count; struct mutex lock; struct inner *in; };
/* A record without a name: the lock is one of the record around it. */
struct device { const char *name; struct { int users; struct mutex lock; } shared; };

int share_badly(struct device *dev, int users)
{
	mutex_lock(&dev->shared.lock);
	if (users > 7)
		return 1; //~ lock/held-on-exit
	dev->shared.users = users;
	mutex_unlock(&dev->shared.lock);
	return 0;
}

int share(struct device *dev, int users) //~ clean
{
	mutex_lock(&dev->shared.lock);
	if (users <= 7)
		dev->shared.users = users;
	mutex_unlock(&dev->shared.lock);
	return 0;
}

/* Members of different records are different objects, whatever leads to them. */
int mixed_up(struct outer *outer)
{
	struct inner *inner = make(outer->count);

	mutex_lock(&inner->lock);
	mutex_lock(&outer->lock);
	outer->count++;
	mutex_unlock(&outer->lock);
	mutex_unlock(&outer->lock); //~ certain lock/double-unlock
	return 0;
}

/* It keeps a lock at times, and nobody in the program gives it back for it. */
struct cache { struct mutex lock; int loaded, depot; };

int insert_badly(struct cache *cache, struct outer *outer)
{
	if (check(cache))
		mutex_lock(&cache->lock);
	outer->count++;
	return 0; //~ certain lock/inconsistent-exit
}

/* This one has a function for that. */
struct store { struct mutex lock; int loaded; };

int begin(struct store *store)
{
	if (check(store))
		mutex_lock(&store->lock);
	return 0; //~ note lock/inconsistent-exit
}

void end(struct store *store)
{
	mutex_unlock(&store->lock); //~ note lock/unlock-unheld
}

/* A function of which nothing is known has not taken a lock that all others here take themselves. */
struct table { struct mutex lock; int count; };

int add_badly(struct table *table)
{
	int error = check(table);

	if (error)
		return error;
	table->count++;
	mutex_unlock(&table->lock); //~ certain lock/unlock-unheld
	return 0;
}

void remove(struct table *table) //~ clean
{
	mutex_lock(&table->lock);
	table->count--;
	mutex_unlock(&table->lock);
}

/* Unless its name says so. */
struct list { struct mutex lock; int count; };
int try_lock_of(struct list *list);

int add(struct list *list) //~ clean
{
	if (!try_lock_of(list))
		return 0;
	list->count++;
	mutex_unlock(&list->lock);
	return 1;
}

void drop(struct list *list) //~ clean
{
	mutex_lock(&list->lock);
	list->count--;
	mutex_unlock(&list->lock);
}

/* Two locks of one record have an order, also where one function takes them in both: the other one by a pointer of its own. */
struct net { struct mutex lock, receive; int packets; struct net *self; };

void poll(struct net *net)
{
	mutex_lock(&net->receive);
	mutex_lock(&net->lock);
	net->packets++;
	mutex_unlock(&net->lock);
	mutex_unlock(&net->receive);
}

void time_out(struct net *net)
{
	mutex_lock(&net->lock);
	mutex_lock(&net->receive); //~ certain lock/order
	net->packets = 0;
	mutex_unlock(&net->lock);
	mutex_lock(&net->self->lock);
	net->self->packets = 0;
	mutex_unlock(&net->self->lock);
	mutex_unlock(&net->receive);
}
