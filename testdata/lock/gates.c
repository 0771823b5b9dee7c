/* One function that takes a lock or gives it back, as its caller says: the gate of a bus. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct base { struct mutex bus_lock; };
struct demod { struct base *base; };
struct frontend { void *priv; int (*gate)(struct frontend *fe, int enable); };
int write_reg(struct demod *d, int value);

static int gate(struct frontend *fe, int enable) //~ clean
{
	struct demod *d = fe->priv;

	if (enable)
		mutex_lock(&d->base->bus_lock);
	if (write_reg(d, enable) < 0) {
		if (enable)
			mutex_unlock(&d->base->bus_lock);
		return -5;
	}
	if (!enable)
		mutex_unlock(&d->base->bus_lock);
	return 0;
}

struct port { struct mutex gate_lock; int (*gate)(struct frontend *fe, int enable); };

static int locked_gate(struct frontend *fe, int enable) //~ clean
{
	struct port *p = fe->priv;
	int status;

	if (enable) {
		mutex_lock(&p->gate_lock);
		status = p->gate(fe, 1);
	} else {
		status = p->gate(fe, 0);
		mutex_unlock(&p->gate_lock);
	}
	return status;
}

void attach(struct frontend *fe, struct port *p, int own) //~ clean
{
	fe->gate = own ? gate : locked_gate;
	p->gate = gate;
}

struct tuner { struct mutex lock; };

/* Takes it, whatever it is told. */
int tune(struct tuner *t, int enable)
{
	mutex_lock(&t->lock);
	if (!enable)
		return -22; //~ certain lock/held-on-exit
	mutex_unlock(&t->lock);
	return 0;
}
