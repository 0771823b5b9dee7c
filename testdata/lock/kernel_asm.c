/* Assembly in kernel headers: the current task, per-processor data, assertions. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
int busy(void *);

struct task { spinlock_t lock; int flags; };
struct runqueue { spinlock_t lock; int running; };
extern struct task *current_task;
extern unsigned long this_cpu_off;
extern struct runqueue runqueues;

static inline struct task *get_current(void)
{
	struct task *value;

	asm("movq %%gs:%P1,%0" : "=r" (value) : "p" (&(current_task)));
	return value;
}
#define current get_current()
#define this_cpu_ptr(ptr) ({ \
	__typeof__(ptr) p__; \
	asm("add %%gs:%1, %0" : "=r" (p__) : "m" (this_cpu_off), "0" (ptr)); \
	p__; })
#define WARN_ON(condition) ({ \
	int failed__ = !!(condition); \
	if (__builtin_expect(!!(failed__), 0)) \
		asm volatile("1: .byte 0x0f, 0x0b\n.pushsection __bug_table,\"aw\"\n\t.word %c0\n.popsection" : : "i" (__LINE__)); \
	__builtin_expect(!!(failed__), 0); })

void mark(void) //~ clean
{
	spin_lock(&current->lock);
	current->flags |= 1;
	spin_unlock(&current->lock);
}

int mark_badly(void)
{
	spin_lock(&current->lock);
	if (current->flags)
		return 0; //~ lock/inconsistent-exit
	current->flags |= 1;
	spin_unlock(&current->lock);
	return 0;
}

void run(void) //~ clean
{
	spin_lock(&this_cpu_ptr(&runqueues)->lock);
	this_cpu_ptr(&runqueues)->running++;
	spin_unlock(&this_cpu_ptr(&runqueues)->lock);
}

void run_twice(void)
{
	spin_lock(&this_cpu_ptr(&runqueues)->lock);
	if (busy(current))
		spin_lock(&this_cpu_ptr(&runqueues)->lock); //~ lock/double-lock
	spin_unlock(&this_cpu_ptr(&runqueues)->lock);
}

/* Execution goes on after a warning. */
int checked(struct task *task)
{
	spin_lock(&task->lock);
	if (WARN_ON(task->flags < 0))
		return -1; //~ certain lock/inconsistent-exit
	task->flags = 0;
	spin_unlock(&task->lock);
	return -1;
}

int checked_well(struct task *task) //~ clean
{
	spin_lock(&task->lock);
	if (WARN_ON(task->flags < 0)) {
		spin_unlock(&task->lock);
		return -1;
	}
	task->flags = 0;
	spin_unlock(&task->lock);
	return -1;
}

int checked_badly(struct task *task)
{
	spin_lock(&task->lock);
	if (WARN_ON(task->flags < 0)) {
		spin_unlock(&task->lock);
		return -1;
	}
	if (busy(task))
		return -1; //~ lock/inconsistent-exit
	spin_unlock(&task->lock);
	return -1;
}

/* The same where the warning is given once. */
#define WARN_ON_ONCE(condition) ({ \
	_Bool __ret_do_once = !!(condition); \
	if (({ static _Bool __attribute__((__section__(".data.once"))) __already_done; \
		_Bool __ret_cond = !!(__ret_do_once); \
		_Bool __ret_once = 0; \
		if (__builtin_expect(!!(__ret_cond && !__already_done), 0)) { \
			__already_done = 1; \
			__ret_once = 1; \
		} \
		__builtin_expect(!!(__ret_once), 0); })) \
		WARN_ON(1); \
	__builtin_expect(!!(__ret_do_once), 0); })

int checked_once(struct task *task)
{
	spin_lock(&task->lock);
	if (WARN_ON_ONCE(task->flags < 0))
		return -1; //~ certain lock/inconsistent-exit
	task->flags = 0;
	spin_unlock(&task->lock);
	return -1;
}

/* What is wrong in code that deals with the failed assertion is as wrong as elsewhere; what is wrong only because it has
 * failed is a note, for the assertion says that it does not happen. */
void dealt_with(struct task *task)
{
	spin_lock(&task->lock);
	if (WARN_ON(task->flags < 0)) {
		spin_unlock(&task->lock);
		spin_unlock(&task->lock); //~ certain lock/double-unlock
		return;
	}
	spin_unlock(&task->lock);
}

void asserted_away(struct task *task)
{
	spin_lock(&task->lock);
	WARN_ON(task->flags < 0);
	if (task->flags >= 0)
		spin_unlock(&task->lock);
	spin_lock(&task->lock); //~ note lock/double-lock
	spin_unlock(&task->lock);
}

#define BUG() do { \
	asm volatile("1: .byte 0x0f, 0x0b\n.pushsection __bug_table,\"aw\"\n\t.word %c0\n.popsection" : : "i" (__LINE__)); \
	__builtin_unreachable(); } while (0)

void never(struct task *task) //~ clean
{
	spin_lock(&task->lock);
	if (task->flags < 0)
		BUG();
	spin_unlock(&task->lock);
}

/* A lock that is asserted to be held is held: it hides no mistake with another. */
struct mutex { int owner; };
_Bool mutex_is_locked(struct mutex *lock);
struct mutex config_mutex;

int change(struct task *task)
{
	WARN_ON(!mutex_is_locked(&config_mutex));
	spin_lock(&task->lock);
	if (task->flags)
		return 1; //~ lock/inconsistent-exit
	spin_unlock(&task->lock);
	return 1;
}
