#include "queue.h"

static struct mutex registry_mutex;
static struct mutex names_mutex;
static int registered;
static int names;

/* registry_mutex is the outer one. */
void registry_add(void)
{
	mutex_lock(&registry_mutex);
	mutex_lock(&names_mutex);
	names++;
	mutex_unlock(&names_mutex);
	registered++;
	mutex_unlock(&registry_mutex);
}

int registry_remove(void)
{
	int result = -1;

	if (mutex_lock_interruptible(&registry_mutex))
		return result;
	if (!registered)
		goto out;
	mutex_lock(&names_mutex);
	names--;
	mutex_unlock(&names_mutex);
	registered--;
	result = 0;
out:
	mutex_unlock(&registry_mutex);
	return result;
}

int registry_names(void)
{
	int result;

	mutex_lock(&registry_mutex);
	mutex_lock(&names_mutex);
	result = names;
	mutex_unlock(&names_mutex);
	mutex_unlock(&registry_mutex);
	return result;
}
