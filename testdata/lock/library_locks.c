/* Locks of libraries, with the declarations that their headers have. */
typedef struct _GMutex GMutex;
void g_mutex_lock(GMutex *mutex);
void g_mutex_unlock(GMutex *mutex);
int g_mutex_trylock(GMutex *mutex);
typedef struct _GRWLock GRWLock;
void g_rw_lock_reader_lock(GRWLock *lock);
void g_rw_lock_reader_unlock(GRWLock *lock);
void g_rw_lock_writer_lock(GRWLock *lock);
void g_rw_lock_writer_unlock(GRWLock *lock);
typedef struct apr_thread_mutex_t apr_thread_mutex_t;
int apr_thread_mutex_lock(apr_thread_mutex_t *mutex);
int apr_thread_mutex_unlock(apr_thread_mutex_t *mutex);
typedef void CRYPTO_RWLOCK;
int CRYPTO_THREAD_read_lock(CRYPTO_RWLOCK *lock);
int CRYPTO_THREAD_write_lock(CRYPTO_RWLOCK *lock);
int CRYPTO_THREAD_unlock(CRYPTO_RWLOCK *lock);
typedef struct uv_mutex_s uv_mutex_t;
void uv_mutex_lock(uv_mutex_t *mutex);
void uv_mutex_unlock(uv_mutex_t *mutex);
typedef struct PRLock PRLock;
void PR_Lock(PRLock *lock);
int PR_Unlock(PRLock *lock);

extern GMutex *list_mutex;
extern GRWLock *table_lock;
extern apr_thread_mutex_t *pool_mutex;
extern CRYPTO_RWLOCK *locks[4];
extern uv_mutex_t *loop_mutex;
extern PRLock *certificates;
static int entries;

int glib_bad(int n)
{
	g_mutex_lock(list_mutex);
	if (n < 0)
		return -1; //~ lock/held-on-exit
	entries += n;
	g_mutex_unlock(list_mutex);
	return 0;
}

int glib_good(int n) //~ clean
{
	if (!g_mutex_trylock(list_mutex))
		return -1;
	entries += n;
	g_mutex_unlock(list_mutex);
	return 0;
}

void table_bad(int n)
{
	g_rw_lock_reader_lock(table_lock);
	if (n < entries)
		g_rw_lock_writer_lock(table_lock); //~ certain lock/double-lock
	entries += n;
	g_rw_lock_reader_unlock(table_lock);
}

void table_good(int n) //~ clean
{
	g_rw_lock_writer_lock(table_lock);
	entries += n;
	g_rw_lock_writer_unlock(table_lock);
}

int apr_bad(int n)
{
	apr_thread_mutex_lock(pool_mutex);
	entries += n;
	apr_thread_mutex_unlock(pool_mutex);
	if (n < 0)
		apr_thread_mutex_unlock(pool_mutex); //~ certain lock/double-unlock
	return 0;
}

int openssl_bad(int n)
{
	if (!CRYPTO_THREAD_write_lock(locks[1]))
		return 0;
	entries += n;
	CRYPTO_THREAD_read_lock(locks[1]); //~ certain lock/double-lock
	CRYPTO_THREAD_unlock(locks[1]);
	return 1;
}

int openssl_good(int n) //~ clean
{
	if (!CRYPTO_THREAD_write_lock(locks[1]))
		return 0;
	entries += n;
	CRYPTO_THREAD_unlock(locks[1]);
	return 1;
}

void uv_bad(int n)
{
	uv_mutex_lock(loop_mutex);
	if (n < 0)
		return; //~ lock/inconsistent-exit
	uv_mutex_unlock(loop_mutex);
}

void nspr_good(int n) //~ clean
{
	PR_Lock(certificates);
	entries += n;
	PR_Unlock(certificates);
}
