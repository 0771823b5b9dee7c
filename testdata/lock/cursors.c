/* A cursor on the stack leads to the table that is locked: what moves the cursor leaves the table. */

typedef struct { int counter; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

struct table {
	spinlock_t lock;
	int *slots;
};

struct cursor {
	struct table *table;
	unsigned long index;
	int *slot;
};

int *cursor_load(struct cursor *cursor);
void cursor_store(struct cursor *cursor, int value);

void set(struct table *table, unsigned long index) //~ clean
{
	struct cursor cursor = { .table = table, .index = index };

	spin_lock(&cursor.table->lock);
	if (cursor_load(&cursor))
		cursor_store(&cursor, 1);
	spin_unlock(&cursor.table->lock);
}

void set_two(struct table *table) //~ clean
{
	set(table, 1);
	set(table, 2);
}

int set_unless_there(struct table *table, unsigned long index)
{
	struct cursor cursor = { .table = table, .index = index };

	spin_lock(&cursor.table->lock);
	cursor_store(&cursor, 1);
	if (cursor.slot)
		return 1; //~ lock/inconsistent-exit
	spin_unlock(&cursor.table->lock);
	return 1;
}

/* The slot is the callee's to fill in. */
int found(struct table *table, unsigned long index) //~ clean
{
	struct cursor cursor = { .table = table, .index = index };

	cursor_load(&cursor);
	if (cursor.slot)
		spin_lock(&table->lock);
	if (cursor.slot)
		spin_unlock(&table->lock);
	return cursor.slot != 0;
}
