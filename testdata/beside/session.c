/* A session that one thread ends while another one looks at it: the test and the use are not one step. */
#include <pthread.h>
#include <stdlib.h>

struct session {
    int id;
    int requests;
};

static struct session *current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int session_begin(int id)
{
    int result = -1;

    pthread_mutex_lock(&lock);
    if (!current) {
        current = malloc(sizeof *current);
        if (current) {
            current->id = id;
            current->requests = 0;
            result = 0;
        }
    }
    pthread_mutex_unlock(&lock);
    return result;
}

void session_end(void)
{
    struct session *old;

    pthread_mutex_lock(&lock);
    old = current;
    current = NULL;
    pthread_mutex_unlock(&lock);
    free(old);
}

int session_count(void)
{
    int count = 0;

#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    if (current)
        count = current->requests; //~ race/interleaved
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return count;
}

void session_request(void)
{
    pthread_mutex_lock(&lock);
    if (current)
        current->requests++;
    pthread_mutex_unlock(&lock);
}
