/* A bit of a word as a lock. */
void bit_spin_lock(int bitnum, unsigned long *addr);
int bit_spin_trylock(int bitnum, unsigned long *addr);
void bit_spin_unlock(int bitnum, unsigned long *addr);
void __bit_spin_unlock(int bitnum, unsigned long *addr);

struct head { unsigned long word; int count; };

void add(struct head *h) //~ clean
{
	bit_spin_lock(0, &h->word);
	h->count++;
	__bit_spin_unlock(0, &h->word);
}

void add_twice(struct head *h)
{
	bit_spin_lock(0, &h->word);
	add(h); //~ lock/double-lock
	bit_spin_unlock(0, &h->word);
}

/* Different bits. */
void two_bits(struct head *h) //~ clean
{
	bit_spin_lock(0, &h->word);
	bit_spin_lock(1, &h->word);
	h->count++;
	bit_spin_unlock(1, &h->word);
	bit_spin_unlock(0, &h->word);
}

int try_bit(struct head *h, int bit) //~ clean
{
	if (!bit_spin_trylock(bit, &h->word))
		return 0;
	h->count++;
	bit_spin_unlock(bit, &h->word);
	return 1;
}

void wrong_bit(struct head *h)
{
	bit_spin_lock(0, &h->word);
	bit_spin_lock(1, &h->word);
	h->count++;
	bit_spin_unlock(1, &h->word);
	bit_spin_unlock(1, &h->word); //~ lock/double-unlock
} //~ lock/held-on-exit

/* The lock is bit 0 of a pointer: storing the pointer gives it back. */
struct node { struct node *next; };

static void assign_unlock(struct node **bkt, struct node *obj);
void barrier_of(void *p);

static void assign_unlock(struct node **bkt, struct node *obj)
{
	*bkt = obj;
	barrier_of(obj);
}

int insert(struct node **bkt, struct node *obj, int full) //~ clean
{
	bit_spin_lock(0, (unsigned long *)bkt);
	if (full) {
		bit_spin_unlock(0, (unsigned long *)bkt);
		return -1;
	}
	obj->next = (struct node *)((unsigned long)*bkt & ~1ul);
	assign_unlock(bkt, obj);
	return 0;
}

int insert_checked(struct node **bkt, struct node *obj, int full)
{
	bit_spin_lock(0, (unsigned long *)bkt);
	if (full)
		return 0; //~ known-miss lock/inconsistent-exit
	obj->next = (struct node *)((unsigned long)*bkt & ~1ul);
	*bkt = obj;
	return 0;
}

/* The bit stays as it is where another bit of the word is set. */
void set_flag(struct head *h, int urgent) //~ clean
{
	bit_spin_lock(0, &h->word);
	if (urgent)
		h->word |= 4;
	bit_spin_unlock(0, &h->word);
}

void count_and_forget(struct head *h, int busy)
{
	bit_spin_lock(0, &h->word);
	h->count++;
	if (busy)
		return; //~ lock/inconsistent-exit
	bit_spin_unlock(0, &h->word);
}
