#include <pthread.h>
struct reg { pthread_mutex_t m; int a; };
static void touch(struct reg *r) { pthread_mutex_lock(&r->m); r->a++; pthread_mutex_unlock(&r->m); } //~ clean
void one_bug(struct reg *r)
{
	pthread_mutex_lock(&r->m);
	touch(r); //~ lock/double-lock
	pthread_mutex_unlock(&r->m);
}
static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static int total;
void enter(void);
void one_enter_ok(void) { pthread_mutex_lock(&big); enter(); total++; pthread_mutex_unlock(&big); } //~ clean
