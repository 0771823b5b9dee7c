/* What is in a field of a few bits has a name, or it is not there. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct domain { struct mutex lock; unsigned long seq; };
void scan(struct domain *d);
void wait_a_while(void);

/* Three names for the states of two bits. */
void advance(struct domain *d)
{
	mutex_lock(&d->lock);
	if ((d->seq & 3) == 0) {
		mutex_unlock(&d->lock);
		return;
	}
	if ((d->seq & 3) == 1) {
		scan(d);
		mutex_unlock(&d->lock);
		return;
	}
	if ((d->seq & 3) == 2)
		mutex_unlock(&d->lock);
} //~ known-false-positive note lock/inconsistent-exit

/* Looked at once as a number of its own. */
static unsigned long state_of(struct domain *d) { return *(volatile unsigned long *)&d->seq & 3; }

void advance_idle(struct domain *d)
{
	int state;

	mutex_lock(&d->lock);
	state = state_of(d);
	if (state == 0) {
		mutex_unlock(&d->lock);
		return;
	}
	if (state_of(d) == 1) {
		mutex_unlock(&d->lock);
		return;
	}
	if (state_of(d) == 2)
		mutex_unlock(&d->lock);
} //~ known-false-positive note lock/inconsistent-exit

/* Goes on to the next state, and on. */
void advance_all(struct domain *d)
{
	mutex_lock(&d->lock);
	if (state_of(d) == 0)
		d->seq++;
	if (state_of(d) == 1) {
		wait_a_while();
		d->seq = (d->seq & ~3ul) + 2;
	}
	if (state_of(d) == 2)
		mutex_unlock(&d->lock);
} //~ known-false-positive note lock/inconsistent-exit

/* Two of four are handled. */
void advance_some(struct domain *d)
{
	mutex_lock(&d->lock);
	if ((d->seq & 3) == 0) {
		mutex_unlock(&d->lock);
		return;
	}
	if ((d->seq & 3) == 1)
		mutex_unlock(&d->lock);
} //~ certain lock/inconsistent-exit
