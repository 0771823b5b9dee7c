/* Guards as Linux defines them (cleanup.h): a record made by a constructor, undone by a destructor. */
typedef struct raw_spinlock { int v; } raw_spinlock_t;
void _raw_spin_lock(raw_spinlock_t *lock);
unsigned long _raw_spin_lock_irqsave(raw_spinlock_t *lock);
void _raw_spin_unlock(raw_spinlock_t *lock);
void _raw_spin_unlock_irqrestore(raw_spinlock_t *lock, unsigned long flags);
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
int step(int);
#define EBUSY 16

#define __cleanup(func) __attribute__((__cleanup__(func)))
#define CLASS(_name, var) \
	class_##_name##_t var __cleanup(class_##_name##_destructor) = class_##_name##_constructor
#define guard(_name) CLASS(_name, scope)
#define scoped_guard(_name, args...) \
	for (CLASS(_name, scope)(args), *done = (void *)0; !done; done = (void *)1)

#define DEFINE_CLASS(_name, _type, _exit, _init, _init_args...) \
typedef _type class_##_name##_t; \
static inline void class_##_name##_destructor(_type *p) { _type _T = *p; _exit; } \
static inline _type class_##_name##_constructor(_init_args) { _type t = _init; return t; }
#define DEFINE_GUARD(_name, _type, _lock, _unlock) \
	DEFINE_CLASS(_name, _type, _unlock, ({ _lock; _T; }), _type _T)
#define DEFINE_LOCK_GUARD_1(_name, _type, _lock, _unlock, members) \
typedef struct { _type *lock; members; } class_##_name##_t; \
static inline void class_##_name##_destructor(class_##_name##_t *_T) \
{ if (_T->lock) { _unlock; } } \
static inline class_##_name##_t class_##_name##_constructor(_type *l) \
{ class_##_name##_t _t = { .lock = l }, *_T = &_t; _lock; return _t; }

DEFINE_GUARD(mutex, struct mutex *, mutex_lock(_T), mutex_unlock(_T))
DEFINE_LOCK_GUARD_1(raw_spinlock_irqsave, raw_spinlock_t,
		    _T->flags = _raw_spin_lock_irqsave(_T->lock),
		    _raw_spin_unlock_irqrestore(_T->lock, _T->flags), unsigned long flags)

static raw_spinlock_t device_lock;
struct group { struct mutex mutex; int members; };

static void announce(int n) //~ clean
{
	_raw_spin_lock(&device_lock);
	step(n);
	_raw_spin_unlock(&device_lock);
}

int join(struct group *g) //~ clean
{
	guard(mutex)(&g->mutex);

	if (g->members > 9)
		return -EBUSY;
	g->members++;
	return 0;
}

int join_twice(struct group *g)
{
	guard(mutex)(&g->mutex);

	g->members++;
	return join(g); //~ lock/double-lock
}

int install(int n) //~ clean
{
	int old;

	scoped_guard(raw_spinlock_irqsave, &device_lock) {
		if (step(n))
			return -EBUSY;
		old = step(n + 1);
	}
	if (old)
		announce(old);
	return 0;
}

int install_badly(int n)
{
	scoped_guard(raw_spinlock_irqsave, &device_lock) {
		if (step(n))
			return -EBUSY;
		announce(n); //~ lock/double-lock
	}
	return 0;
}

/* A guard that may have no lock: the record tells. */
int _raw_spin_trylock(raw_spinlock_t *lock);
typedef struct { raw_spinlock_t *lock; void *extra; } class_try_t;

static inline class_try_t class_try_constructor(raw_spinlock_t *l) //~ clean
{
	class_try_t _t = { .lock = l }, *_T = &_t;

	if (!_raw_spin_trylock(_T->lock))
		_T->lock = (void *)0;
	return _t;
}

static inline void class_try_destructor(class_try_t *_T)
{
	if (_T->lock)
		_raw_spin_unlock(_T->lock);
}

int try_announce(int n) //~ clean
{
	CLASS(try, scope)(&device_lock);

	if (!scope.lock)
		return -EBUSY;
	return step(n);
}

int try_announce_badly(int n)
{
	CLASS(try, scope)(&device_lock);

	if (scope.lock)
		_raw_spin_lock(&device_lock); //~ lock/double-lock
	return step(n);
}
