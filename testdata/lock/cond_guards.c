/* Guards as Linux has them since 6.7: a lock that is tried for by a scope, and given back at its end if it was got. */
#define __cleanup(f) __attribute__((__cleanup__(f)))
#define __maybe_unused __attribute__((__unused__))
#define NULL ((void *)0)
typedef _Bool bool;
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
int mutex_lock_interruptible(struct mutex *lock);
int mutex_trylock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);

#define DEFINE_CLASS(_name, _type, _exit, _init, _init_args...) \
	typedef _type class_##_name##_t; \
	static inline void class_##_name##_destructor(_type *p) \
	{ _type _T = *p; _exit; } \
	static inline _type class_##_name##_constructor(_init_args) \
	{ _type t = _init; return t; }
#define EXTEND_CLASS(_name, ext, _init, _init_args...) \
	typedef class_##_name##_t class_##_name##ext##_t; \
	static inline void class_##_name##ext##_destructor(class_##_name##_t *p) \
	{ class_##_name##_destructor(p); } \
	static inline class_##_name##_t class_##_name##ext##_constructor(_init_args) \
	{ class_##_name##_t t = _init; return t; }
#define CLASS(_name, var) \
	class_##_name##_t var __cleanup(class_##_name##_destructor) = class_##_name##_constructor
#define IS_CONDITIONAL(_name, _is_cond) \
	static __maybe_unused const bool class_##_name##_is_conditional = _is_cond
#define DEFINE_GUARD(_name, _type, _lock, _unlock) \
	IS_CONDITIONAL(_name, 0); \
	DEFINE_CLASS(_name, _type, if (_T) { _unlock; }, ({ _lock; _T; }), _type _T); \
	static inline void *class_##_name##_lock_ptr(class_##_name##_t *_T) \
	{ return (void *)(unsigned long)*_T; }
#define DEFINE_GUARD_COND(_name, _ext, _condlock) \
	IS_CONDITIONAL(_name##_ext, 1); \
	EXTEND_CLASS(_name, _ext, \
		     ({ void *_t = _T; if (_T && !(_condlock)) _t = NULL; _t; }), \
		     class_##_name##_t _T) \
	static inline void *class_##_name##_ext##_lock_ptr(class_##_name##_t *_T) \
	{ return class_##_name##_lock_ptr(_T); }
#define scoped_guard(_name, args...) __scoped_guard(_name, over, args)
#define __scoped_guard(_name, _label, args...) \
	for (CLASS(_name, scope)(args); \
	     class_##_name##_lock_ptr(&scope) || !class_##_name##_is_conditional; \
	     ({ goto _label; })) \
		if (0) { \
_label: \
			break; \
		} else
#define scoped_cond_guard(_name, _fail, args...) __scoped_cond_guard(_name, _fail, over, args)
#define __scoped_cond_guard(_name, _fail, _label, args...) \
	for (CLASS(_name, scope)(args); 1; ({ goto _label; })) \
		if (!class_##_name##_lock_ptr(&scope)) { \
			_fail; \
_label: \
			break; \
		} else

DEFINE_GUARD(mutex, struct mutex *, mutex_lock(_T), mutex_unlock(_T))
DEFINE_GUARD_COND(mutex, _try, mutex_trylock(_T))
DEFINE_GUARD_COND(mutex, _intr, mutex_lock_interruptible(_T) == 0)

struct keyboard { int set; struct mutex lock; };
struct port { struct mutex lock; int open; };
int reset(struct keyboard *k, int set);
int probe(struct port *p);

int set_keys(struct keyboard *k, int set) //~ clean
{
	scoped_guard(mutex_intr, &k->lock) {
		int err = reset(k, set);
		if (err)
			return err;
		k->set = set;
		return 0;
	}
	return -4;
}

int set_twice(struct keyboard *k, int set)
{
	scoped_guard(mutex_intr, &k->lock) {
		mutex_lock(&k->lock); //~ lock/double-lock
		k->set = set;
		mutex_unlock(&k->lock);
	}
	return 0;
}

/* The lock is the record's first member: its address is the record's. */
int configure(struct port *p) //~ clean
{
	scoped_cond_guard(mutex_intr, return -512, &p->lock) {
		if (p->open)
			return -16;
		return probe(p);
	}
	return 0;
}

int configure_early(struct port *p)
{
	scoped_cond_guard(mutex_intr, return -512, &p->lock) {
		mutex_unlock(&p->lock);
		return probe(p); //~ lock/double-unlock
	}
	return 0;
}

int poll(struct port *p) //~ clean
{
	scoped_guard(mutex_try, &p->lock)
		return p->open;
	return -11;
}

void open_port(struct port *p) //~ clean
{
	scoped_guard(mutex, &p->lock)
		p->open = 1;
}
