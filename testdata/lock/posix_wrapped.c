/* A program's own functions around a mutex. What all their callers do says what they are for. */
typedef struct { int __lock; } pthread_mutex_t;
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
int busy(void);

/* Of one file, around one mutex. */
static pthread_mutex_t path_mutex;
static int path;

static void path_lock(void) //~ clean
{
	pthread_mutex_lock(&path_mutex);
}

static void path_unlock(void) //~ clean
{
	pthread_mutex_unlock(&path_mutex);
}

int path_get(void) //~ clean
{
	int found;

	path_lock();
	found = path;
	path_unlock();
	return found;
}

void path_set(int to)
{
	if (to)
		path = to;
	path_unlock(); //~ certain lock/unlock-unheld
}

/* For all files, around the mutex of any pool. */
struct pool {
	pthread_mutex_t mutex;
	int count;
};

void pool_lock(struct pool *pool) //~ clean
{
	pthread_mutex_lock(&pool->mutex);
}

void pool_unlock(struct pool *pool) //~ clean
{
	pthread_mutex_unlock(&pool->mutex);
}

int pool_count(struct pool *pool) //~ clean
{
	int count;

	pool_lock(pool);
	count = pool->count;
	pool_unlock(pool);
	return count;
}

void pool_clear(struct pool *pool)
{
	if (busy())
		pool->count = 0;
	pool_unlock(pool); //~ certain lock/unlock-unheld
}

/* The other half is forgotten. */
struct shelf {
	pthread_mutex_t mutex;
	int count;
};

void shelf_lock(struct shelf *shelf) //~ clean
{
	pthread_mutex_lock(&shelf->mutex);
}

void shelf_unlock(struct shelf *shelf) //~ clean
{
	pthread_mutex_unlock(&shelf->mutex);
}

int shelf_count(struct shelf *shelf) //~ clean
{
	int count;

	shelf_lock(shelf);
	count = shelf->count;
	shelf_unlock(shelf);
	return count;
}

int shelf_trim(struct shelf *shelf)
{
	shelf_lock(shelf);
	shelf->count--;
	return shelf->count; //~ certain lock/held-on-exit
}

/* The same with a mutex that one function takes for another, which nothing here calls: who knows who calls both. */
struct session {
	pthread_mutex_t mutex;
	int open;
};

void session_lock(struct session *session) //~ clean
{
	pthread_mutex_lock(&session->mutex);
}

void session_unlock(struct session *session) //~ clean
{
	pthread_mutex_unlock(&session->mutex);
}

int session_is_open(struct session *session) //~ clean
{
	int open;

	session_lock(session);
	open = session->open;
	session_unlock(session);
	return open;
}

void session_begin(struct session *session) //~ clean
{
	session_lock(session);
	session->open++;
}

void session_end(struct session *session) //~ clean
{
	session->open--;
	session_unlock(session);
}
