/* What a path went through is neither null nor an error number, wherever paths meet; and what was made an
 * error pointer is one. */

struct list_head { struct list_head *next, *prev; };
struct mutex { int state; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
int strcmp(const char *one, const char *other);
int fill(void *table);

#define MAX_ERRNO 4095
static inline void *ERR_PTR(long error) { return (void *)error; }
static inline _Bool IS_ERR(const void *ptr) { return (unsigned long)ptr >= (unsigned long)-MAX_ERRNO; }
static inline long PTR_ERR(const void *ptr) { return (long)ptr; }

#define container_of(ptr, type, member) ((type *)((char *)(ptr) - __builtin_offsetof(type, member)))

struct table {
	int users;
	char name[16];
	struct list_head link;
	void *owner;
};

static struct list_head tables;
static struct mutex tables_lock;

/* Found: locked. Not found, or not to be had: an error pointer, unlocked. */
struct table *find_table_lock(const char *name) //~ clean
{
	struct list_head *at;
	int error;

	mutex_lock(&tables_lock);
	for (at = tables.next; at != &tables; at = at->next) {
		struct table *table = container_of(at, struct table, link);

		if (strcmp(table->name, name) == 0 && table->owner)
			return table;
	}
	mutex_unlock(&tables_lock);
	error = fill(&tables);
	if (error < 0)
		return ERR_PTR(error);
	return ERR_PTR(-2);
}

int use_table(const char *name) //~ clean
{
	struct table *table = find_table_lock(name);

	if (IS_ERR(table))
		return PTR_ERR(table);
	table->users++;
	mutex_unlock(&tables_lock);
	return 0;
}

int use_table_badly(const char *name)
{
	struct table *table = find_table_lock(name);

	if (IS_ERR(table))
		return PTR_ERR(table);
	if (table->users > 8)
		return 0; //~ lock/inconsistent-exit
	mutex_unlock(&tables_lock);
	return 0;
}

struct node { struct mutex lock; struct node *parent; int dead; };

/* Either node has been gone through where the paths meet. */
int touch(struct node *node, int up) //~ clean
{
	struct node *at;

	if (up)
		at = node->parent;
	else
		at = node;
	mutex_lock(&at->lock);
	at->dead = 0;
	if (at)
		mutex_unlock(&at->lock);
	return 0;
}

int touch_badly(struct node *node, int up)
{
	struct node *at;

	if (up)
		at = node->parent;
	else
		at = node;
	mutex_lock(&at->lock);
	if (at->dead)
		return 0; //~ lock/inconsistent-exit
	mutex_unlock(&at->lock);
	return 0;
}

/* The address of a member says as much. */
int through_a_member(struct node *node, int which) //~ clean
{
	struct mutex *lock = 0;

	if (which)
		lock = &node->lock;
	if (lock)
		mutex_lock(lock);
	node->dead = 1;
	if (which && lock)
		mutex_unlock(lock);
	return 0;
}
