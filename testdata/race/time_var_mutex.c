//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>

static int block, busy, inode;
static pthread_mutex_t m_inode = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t m_busy = PTHREAD_MUTEX_INITIALIZER;

static void *allocator(void *arg)
{
    pthread_mutex_lock(&m_inode);
    if (inode == 0) {
        pthread_mutex_lock(&m_busy);
        busy = 1;
        pthread_mutex_unlock(&m_busy);
        inode = 1;
    }
    block = 1;
    assert(block == 1);
    pthread_mutex_unlock(&m_inode);
    return NULL;
}

static void *deallocator(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&m_busy);
    if (busy == 0) {
        pthread_mutex_unlock(&m_busy);
        return NULL;
    }
    pthread_mutex_unlock(&m_busy);
    pthread_mutex_lock(&m_inode);
    block = 0;
    assert(block == 0);
    pthread_mutex_unlock(&m_inode);
#else
    if (busy == 0) {
        block = 0;
        assert(block == 0);
    }
#endif
    return NULL;
}

int main(void)
{
    pthread_t t1, t2;
    pthread_create(&t1, 0, allocator, 0);
    pthread_create(&t2, 0, deallocator, 0);
    pthread_join(t1, 0);
    pthread_join(t2, 0);
    return 0;
}
