// A search that returns an element of a table, or null: the element's address is not null, however far it lies from the table's beginning.

#include <stddef.h>

struct entry { const char *key; long value; };
struct table { struct entry *entries; size_t mask; };

static struct entry *find(struct table *t, size_t hash)
{
	struct entry *e = t->entries + (hash & t->mask);

	if (e->key)
		return e;
	return NULL;
}

long *value_of(struct table *t, size_t hash)
{
	struct entry *e = find(t, hash);

	if (!e)
		return NULL;
	return &e->value;
}

long used_before_the_test(struct table *t, size_t hash)
{
	long *value = value_of(t, hash);
	long known = *value; //~ null/dereference

	if (!value)
		return 0;
	return known + 1;
}

long tested(struct table *t, size_t hash) //~ clean
{
	long *value = value_of(t, hash);

	if (!value)
		return 0;
	return *value + 1;
}

long entry_used_before_the_test(struct table *t, size_t hash, const char **key)
{
	struct entry *e = find(t, hash);

	*key = e->key; //~ null/dereference
	if (!e)
		return 0;
	return e->value;
}
