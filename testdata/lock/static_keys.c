/* A branch that is patched into the text: it goes the same way wherever the same key is asked for. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
struct static_key { int enabled; };
struct ring { spinlock_t lock; int tail; };
extern struct static_key locking, tracing;

static inline _Bool static_branch(struct static_key *const key, const _Bool branch)
{
	asm goto("1: jmp %l[yes]\n\t"
		 ".pushsection __jump_table, \"aw\"\n\t"
		 ".popsection\n\t" : : "i" (key), "i" (2 | branch) : : yes);
	return 0;
yes:
	return 1;
}

int send(struct ring *r) //~ clean
{
	if (static_branch(&locking, 0))
		spin_lock(&r->lock);
	r->tail++;
	if (static_branch(&locking, 0))
		spin_unlock(&r->lock);
	return 0;
}

int send_badly(struct ring *r)
{
	if (static_branch(&locking, 0))
		spin_lock(&r->lock);
	r->tail++;
	if (static_branch(&tracing, 0))
		spin_unlock(&r->lock);
	return 0; //~ lock/inconsistent-exit
}
