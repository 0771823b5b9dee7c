#include <pthread.h>
struct reg { pthread_mutex_t m; int a; };
static void touch(struct reg *r) { r->a++; } //~ clean
void two_ok(struct reg *r) //~ clean
{
	pthread_mutex_lock(&r->m);
	touch(r);
	pthread_mutex_unlock(&r->m);
}
static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static int total;
void enter(void) { pthread_mutex_lock(&big); total++; pthread_mutex_unlock(&big); } //~ clean
