/* A part of something: what the header announces has its callers elsewhere, and they may hold what it needs. */
#include "ring.h"

static void advance(struct ring *r) //~ clean
	__must_hold(&r->lock)
{
	r->head++;
}

void push(struct ring *r) //~ clean
{
	mutex_lock(&r->lock);
	advance(r);
	mutex_unlock(&r->lock);
}

void push_held(struct ring *r) //~ clean
{
	advance(r);
}

void push_bare(struct ring *r)
{
	advance(r); //~ certain lock/unlock-unheld
}
