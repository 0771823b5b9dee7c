/* Wait/wound mutexes: what is taken for a context is its own to give back. */

struct ww_mutex { int owner; };
struct ww_acquire_ctx { int stamp; };
int ww_mutex_lock(struct ww_mutex *lock, struct ww_acquire_ctx *ctx);
void ww_mutex_unlock(struct ww_mutex *lock);

struct object {
	struct ww_mutex lock;
	int pages;
};
int pin(struct object *object);

/* The context that has one already is told so, which is no mistake. */
int object_lock(struct object *object, struct ww_acquire_ctx *ctx) //~ clean
{
	int ret = ww_mutex_lock(&object->lock, ctx);

	if (ret == -114)
		ret = 0;
	return ret;
}

/* The context has the object on its list, and gives it back with the others. */
int object_take(struct object *object, struct ww_acquire_ctx *ctx) //~ clean
{
	int ret = object_lock(object, ctx);

	if (ret)
		return ret;
	return pin(object);
}

/* Without a context it is a mutex like any other. */
int object_pin_and_forget(struct object *object)
{
	int ret = object_lock(object, 0);

	if (ret)
		return ret;
	if (object->pages < 0)
		return pin(object); //~ known-miss lock/inconsistent-exit
	ret = pin(object);
	ww_mutex_unlock(&object->lock);
	return ret;
}
