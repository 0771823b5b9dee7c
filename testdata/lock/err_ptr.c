/* Results that are pointers or errors: the lock is held exactly if the result is no error. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
int prepare(int);
#define EINVAL 22
#define ENOENT 2
#define MAX_ERRNO 4095
#define unlikely(x) __builtin_expect(!!(x), 0)
#define IS_ERR_VALUE(x) unlikely((unsigned long)(void *)(x) >= (unsigned long)-MAX_ERRNO)

static inline void *ERR_PTR(long error) { return (void *)error; }
static inline long PTR_ERR(const void *ptr) { return (long)ptr; }
static inline _Bool IS_ERR(const void *ptr) { return IS_ERR_VALUE((unsigned long)ptr); }

struct session { struct mutex lock; int refs; int id; };

struct session *session_get(struct session *s, int id) //~ clean
{
	int err;

	mutex_lock(&s->lock);
	if (s->id != id) {
		mutex_unlock(&s->lock);
		return ERR_PTR(-ENOENT);
	}
	err = prepare(id);
	if (err < 0) {
		mutex_unlock(&s->lock);
		return ERR_PTR(-EINVAL);
	}
	s->refs++;
	return s;
}

long session_use(struct session *table, int id) //~ clean
{
	struct session *s = session_get(table, id);

	if (IS_ERR(s))
		return PTR_ERR(s);
	s->refs--;
	mutex_unlock(&table->lock);
	return 0;
}

/* Tests for null what is never null. */
long session_misuse(struct session *table, int id)
{
	struct session *s;

	mutex_lock(&table->lock);
	table->refs++;
	mutex_unlock(&table->lock);
	s = session_get(table, id);
	if (!s)
		return -EINVAL;
	mutex_unlock(&table->lock); //~ lock/double-unlock
	return 0;
}

/* One error path keeps the lock. */
struct session *session_leaky(struct session *s, int id)
{
	mutex_lock(&s->lock);
	if (s->id != id) {
		mutex_unlock(&s->lock);
		return ERR_PTR(-EINVAL);
	}
	if (prepare(id))
		return ERR_PTR(-EINVAL); //~ lock/inconsistent-exit
	s->refs++;
	mutex_unlock(&s->lock);
	return s;
}
