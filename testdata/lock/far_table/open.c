#include "valve.h"
void valve_open(struct valve *v) //~ clean
{
	mutex_lock(&v->lock);
	v->turns++;
	mutex_unlock(&v->lock);
}

void __valve_shut(struct valve *v) //~ untouched
{
	v->turns = 0;
}
