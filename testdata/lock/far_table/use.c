#include "valve.h"
void flush(struct valve *v)
{
	mutex_lock(&v->lock);
	v->ops->open(v); //~ certain lock/double-lock
	mutex_unlock(&v->lock);
}

void close_valve(struct valve *v) //~ clean
{
	mutex_lock(&v->lock);
	v->ops->shut(v);
	mutex_unlock(&v->lock);
}
