//~ race/interleaved
//~ FIXED clean
#include <assert.h>
#include <pthread.h>

#define SIZE 1
static int buffer[SIZE];
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;

#ifdef FIXED
#define UNTIL while
#else
#define UNTIL if
#endif

static void *producer(void *argument)
{
    pthread_mutex_lock(&lock);
    UNTIL (count == SIZE)
        pthread_cond_wait(&emptied, &lock);
    assert(count < SIZE);
    buffer[count++] = (int)(long)argument;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *consumer(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    UNTIL (count == 0)
        pthread_cond_wait(&filled, &lock);
    assert(count > 0);
    count--;
    pthread_cond_signal(&emptied);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t p[2], c[2];
    for (long i = 0; i < 2; i++) {
        pthread_create(&c[i], 0, consumer, 0);
        pthread_create(&p[i], 0, producer, (void *)i);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(p[i], 0);
        pthread_join(c[i], 0);
    }
    return 0;
}
