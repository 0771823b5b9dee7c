/* Wait/wound mutexes: a context that has one already is told so, which is no mistake. */

struct ww_mutex { int owner; };
struct ww_acquire_ctx { int stamp; };
int ww_mutex_lock(struct ww_mutex *lock, struct ww_acquire_ctx *ctx);
int ww_mutex_lock_interruptible(struct ww_mutex *lock, struct ww_acquire_ctx *ctx);
void ww_mutex_unlock(struct ww_mutex *lock);

struct object {
	struct ww_mutex lock;
	int pages;
};
int pin(struct object *object);

int object_lock(struct object *object, struct ww_acquire_ctx *ctx) //~ clean
{
	int ret = ww_mutex_lock_interruptible(&object->lock, ctx);

	if (ret == -114)
		ret = 0;
	return ret;
}

int object_pin(struct object *object) //~ clean
{
	int ret = object_lock(object, 0);

	if (ret)
		return ret;
	ret = pin(object);
	ww_mutex_unlock(&object->lock);
	return ret;
}

int object_pin_twice(struct object *object, struct ww_acquire_ctx *ctx) //~ clean
{
	int ret = object_lock(object, ctx);

	if (ret)
		return ret;
	ret = object_lock(object, ctx);
	if (!ret)
		ret = pin(object);
	ww_mutex_unlock(&object->lock);
	return ret;
}

int object_pin_and_forget(struct object *object, struct ww_acquire_ctx *ctx)
{
	int ret = object_lock(object, ctx);

	if (ret)
		return ret;
	if (object->pages < 0)
		return pin(object); //~ lock/inconsistent-exit
	ret = pin(object);
	ww_mutex_unlock(&object->lock);
	return ret;
}
