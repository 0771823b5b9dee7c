/* Figures 8, 11 and 12 in other words, and recursion. */
#include "kernel.h"
struct sep { spinlock_t lck; int on; int cnt; unsigned irqs; };
int sample(struct sep *);
/* Figure 8 look-alikes */
void gate(spinlock_t *g, int take, bool *done) //~ clean
{
	if (!take) {
		spin_unlock(g);
		*done = true;
		return;
	}
	*done = spin_trylock(g) != 0;
}
int gate_ok(spinlock_t *g) //~ clean
{
	bool d;
	gate(g, 1, &d);
	if (d)
		gate(g, 0, &d);
	return d;
}
void gate_bug(spinlock_t *g)
{
	bool d;
	gate(g, 1, &d);
	gate(g, 0, &d); //~ lock/double-unlock
}
void gate_bug2(spinlock_t *g)
{
	bool d;
	gate(g, 1, &d);
	if (d)
		spin_lock(g); //~ lock/double-lock
	spin_unlock(g);
}
int gate_bug3(spinlock_t *g)
{
	bool d;
	gate(g, 1, &d);
	if (d) {
		if (sample(NULL))
			return 0; //~ lock/inconsistent-exit
		gate(g, 0, &d);
	}
	return 0;
}
/* Figure 11: type A: locks in callee while held (sscape style) */
static void stop_engine(struct sep *s) //~ clean
{
	unsigned long f;
	spin_lock_irqsave(&s->lck, f);
	s->on = 0;
	spin_unlock_irqrestore(&s->lck, f);
}
static void maybe_stop(struct sep *s, int c) //~ clean
{
	if (c & 4)
		stop_engine(s);
}
int engine_bug(struct sep *s, int c)
{
	unsigned long f;
	spin_lock_irqsave(&s->lck, f);
	if (s->on && c == 4)
		maybe_stop(s, c); //~ lock/double-lock
	s->cnt++;
	spin_unlock_irqrestore(&s->lck, f);
	return 0;
}
int engine_ok(struct sep *s, int c) //~ clean
{
	unsigned long f;
	spin_lock_irqsave(&s->lck, f);
	if (s->on && c == 3)
		maybe_stop(s, c);
	s->cnt++;
	spin_unlock_irqrestore(&s->lck, f);
	maybe_stop(s, 4);
	return 0;
}
/* Figure 12: type B: inconsistent exit on one error path */
int claim_bug(struct sep *s)
{
	unsigned long f;
	if (!s)
		return -EINVAL;
	spin_lock_irqsave(&s->lck, f);
	switch (s->on) {
	case 0:
		s->on = 1;
		break;
	case 1:
		spin_unlock_irqrestore(&s->lck, f);
		return -EBUSY;
	default:
		return -EINVAL; //~ lock/inconsistent-exit
	}
	spin_unlock_irqrestore(&s->lck, f);
	return 0;
}
int claim_ok(struct sep *s) //~ clean
{
	unsigned long f;
	if (!s)
		return -EINVAL;
	spin_lock_irqsave(&s->lck, f);
	switch (s->on) {
	case 0:
		s->on = 1;
		break;
	case 1:
		spin_unlock_irqrestore(&s->lck, f);
		return -EBUSY;
	default:
		spin_unlock_irqrestore(&s->lck, f);
		return -EINVAL;
	}
	spin_unlock_irqrestore(&s->lck, f);
	return 0;
}
/* statics of one name in two functions files done elsewhere; recursion kernel */
static struct mutex tree_mx;
struct kn { struct kn *kid[2]; int v; };
static int kn_count(struct kn *n)
{
	int c = 0;
	if (!n)
		return 0;
	mutex_lock(&tree_mx); 
	c = 1 + kn_count(n->kid[0]) + kn_count(n->kid[1]); //~ lock/double-lock
	mutex_unlock(&tree_mx);
	return c;
}
int kn_total(struct kn *n) { return kn_count(n); } //~ clean
static int __kn_count2(struct kn *n) //~ untouched
{
	return n ? 1 + __kn_count2(n->kid[0]) + __kn_count2(n->kid[1]) : 0;
}
int kn_total2(struct kn *n) //~ clean
{
	int r;
	mutex_lock(&tree_mx);
	r = __kn_count2(n);
	mutex_unlock(&tree_mx);
	return r;
}
