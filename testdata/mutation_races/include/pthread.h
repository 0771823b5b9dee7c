/* As much of POSIX threads as the files beside use. */
#ifndef PTHREAD_H
#define PTHREAD_H
typedef union { char size[40]; long align; } pthread_mutex_t;
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_trylock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
void abort(void) __attribute__((noreturn));
#endif
