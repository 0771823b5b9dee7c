/* Error pointers, scope guards, statement expressions, recursion, hand over hand. */
#include <pthread.h>
#include <stdlib.h>
#include <stdint.h>
#include <errno.h>

struct node { pthread_mutex_t mu; struct node *next; int val; int busy; };
int probe(int);

static inline void *err_ptr(long e) { return (void *)e; } //~ untouched
static inline int is_err(const void *p) { return (uintptr_t)p >= (uintptr_t)-4095; } //~ untouched

static struct node *node_lookup(struct node *head, int v) //~ clean
{
	pthread_mutex_lock(&head->mu);
	if (head->busy) {
		pthread_mutex_unlock(&head->mu);
		return err_ptr(-EBUSY);
	}
	if (head->val != v) {
		pthread_mutex_unlock(&head->mu);
		return NULL;
	}
	return head;
}
static inline int is_err_or_null(const void *p) { return !p || is_err(p); } //~ untouched

int lookup_ok(struct node *h, int v) //~ clean
{
	struct node *n = node_lookup(h, v);
	if (is_err_or_null(n))
		return -1;
	n->val++;
	pthread_mutex_unlock(&n->mu);
	return 0;
}
int lookup_bug(struct node *h, int v)
{
	struct node *n = node_lookup(h, v);
	if (is_err_or_null(n))
		return -1;
	if (probe(v))
		return -1; //~ lock/held-on-exit
	pthread_mutex_unlock(&n->mu);
	return 0;
}
int lookup_bug2(struct node *h, int v)
{
	struct node *n = node_lookup(h, v);
	if (is_err(n))
		return -1;
	/* may be NULL: lock not held */
	h->val = 0;
	pthread_mutex_unlock(&h->mu); //~ lock/double-unlock
	return 0;
}

/* cleanup */
static void unlock_p(pthread_mutex_t **m) { if (*m) pthread_mutex_unlock(*m); } //~ clean
#define CLEANUP(f) __attribute__((cleanup(f)))
#define LOCKED(m) CLEANUP(unlock_p) pthread_mutex_t *held_ = (pthread_mutex_lock(m), (m))
int cl_ok(struct node *n) //~ clean
{
	LOCKED(&n->mu);
	if (probe(n->val))
		return -1;
	n->val++;
	return 0;
}
int cl_bug(struct node *n)
{
	LOCKED(&n->mu);
	if (probe(n->val)) {
		pthread_mutex_unlock(&n->mu);
		return -1; //~ lock/double-unlock
	}
	n->val++;
	return 0;
}
int cl_bug2(struct node *n)
{
	LOCKED(&n->mu);
	n->val++;
	for (int i = 0; i < 3; i++) {
		if (probe(i)) {
			LOCKED(&n->mu); //~ lock/double-lock
			n->val--;
		}
	}
	return 0;
}
int cl_early_ok(struct node *n) //~ clean
{
	LOCKED(&n->mu);
	n->val++;
	if (n->val == 4) {
		pthread_mutex_unlock(held_);
		held_ = NULL;
		return probe(4);
	}
	return 0;
}

/* statement expressions */
#define WITH(m, expr) ({ typeof(expr) r_; pthread_mutex_lock(m); r_ = (expr); pthread_mutex_unlock(m); r_; })
#define TRY(m) ({ int ok_ = 0; if (pthread_mutex_trylock(m) == 0) ok_ = 1; ok_; })
#define LOCK_RET(m, x) ({ pthread_mutex_lock(m); if (!(x)) { pthread_mutex_unlock(m); return -1; } (x); })
int se_ok(struct node *n) //~ clean
{
	int a = WITH(&n->mu, n->val), b = WITH(&n->mu, n->busy);
	return a + b;
}
int se_bug(struct node *n)
{
	return WITH(&n->mu, n->val + WITH(&n->mu, n->busy)); //~ lock/double-lock
}
int se_try_ok(struct node *n) //~ clean
{
	if (TRY(&n->mu)) {
		n->val++;
		pthread_mutex_unlock(&n->mu);
		return 1;
	}
	return 0;
}
int se_try_bug(struct node *n)
{
	if (!TRY(&n->mu)) {
		n->val++;
		pthread_mutex_unlock(&n->mu); //~ lock/double-unlock
		return 1;
	}
	pthread_mutex_unlock(&n->mu);
	return 0;
}
int se_ret_ok(struct node *n) //~ clean
{
	int v = LOCK_RET(&n->mu, n->val);
	pthread_mutex_unlock(&n->mu);
	return v;
}
int se_ret_bug(struct node *n)
{
	int v = LOCK_RET(&n->mu, n->val);
	return -1; //~ lock/inconsistent-exit
}

/* recursion */
int rec_ok(struct node *n) //~ clean
{
	int s;
	if (!n)
		return 0;
	s = rec_ok(n->next);
	pthread_mutex_lock(&n->mu);
	s += n->val;
	pthread_mutex_unlock(&n->mu);
	return s;
}
static struct node root;
int rec_bug(int k)
{
	int s = 0;
	pthread_mutex_lock(&root.mu); 
	if (k > 0)
		s = rec_bug(k - 1); //~ lock/double-lock
	pthread_mutex_unlock(&root.mu);
	return s + k;
}
int rec2_ok(int k) //~ clean
{
	pthread_mutex_lock(&root.mu);
	root.val += k;
	pthread_mutex_unlock(&root.mu);
	return k > 0 ? rec2_ok(k - 1) : 0;
}
static void odd(int k);
static void even(int k)
{
	pthread_mutex_lock(&root.mu);
	root.val++;
	if (k)
		odd(k - 1); //~ lock/double-lock
	pthread_mutex_unlock(&root.mu);
}
static void odd(int k) //~ clean
{
	if (k)
		even(k - 1);
}
void start(int k) { even(k); } //~ clean

/* hand over hand */
void hoh_ok(struct node *h, int v) //~ clean
{
	pthread_mutex_lock(&h->mu);
	while (h->next && h->val < v) {
		struct node *n = h->next;
		pthread_mutex_lock(&n->mu);
		pthread_mutex_unlock(&h->mu);
		h = n;
	}
	h->busy = 1;
	pthread_mutex_unlock(&h->mu);
}
void hoh_bug(struct node *h, int v)
{
	pthread_mutex_lock(&h->mu);
	while (h->next && h->val < v) {
		struct node *n = h->next;
		pthread_mutex_lock(&n->mu);
		pthread_mutex_unlock(&n->mu); 
		pthread_mutex_unlock(&h->mu);  //~ lock/double-unlock
		h = n;
	}
	h->busy = 1;
	pthread_mutex_unlock(&h->mu);
}
