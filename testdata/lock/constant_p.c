/* A bit of a word of flags is read by an expression where its number is a constant, else by the processor's own
 * instruction. What is read twice is one value, if it was a constant. */
typedef struct { int v; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

typedef unsigned char bool_t;
static inline bool_t constant_test_bit(long nr, const volatile unsigned long *addr)
{
	return ((1UL << (nr & 63)) & (addr[nr >> 6])) != 0;
}
static inline bool_t variable_test_bit(long nr, const volatile unsigned long *addr)
{
	bool_t oldbit;
	asm volatile(" bt %2,%1" : "=@ccc"(oldbit) : "m"(*(unsigned long *)addr), "Ir"(nr) : "memory");
	return oldbit;
}
static inline bool_t arch_test_bit(unsigned long nr, const volatile unsigned long *addr)
{
	return __builtin_constant_p(nr) ? constant_test_bit(nr, addr) : variable_test_bit(nr, addr);
}
#define test_bit(nr, addr) arch_test_bit(nr, addr)

struct page { unsigned long flags; int count; spinlock_t *owner; };
static inline int in_swap(struct page *p) { return test_bit(10, &p->flags); }

int drop(struct page *p, int count) //~ clean
{
	if (!in_swap(p))
		spin_lock(p->owner);
	if (p->count != count)
		goto out;
	p->count = 0;
	if (!in_swap(p))
		spin_unlock(p->owner);
	return 1;
out:
	if (!in_swap(p))
		spin_unlock(p->owner);
	return 0;
}

int drop_wrong(struct page *p, int count)
{
	if (!in_swap(p))
		spin_lock(p->owner);
	if (p->count != count)
		return 0; //~ lock/inconsistent-exit
	p->count = 0;
	if (!in_swap(p))
		spin_unlock(p->owner);
	return 0;
}
