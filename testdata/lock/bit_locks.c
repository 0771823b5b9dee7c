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
}
