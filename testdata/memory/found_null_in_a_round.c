/* A pointer is followed where a test within a loop, or the one that ends it, has just found it null. */
#include <stdio.h>

struct entry { struct entry *next; struct entry *of; int key; };

int told_by_null_entry(struct entry *list)
{
	for (; list; list = list->next) {
		struct entry *of = list->of;

		if (!of) {
			fprintf(stderr, "no entry for %d\n", of->key); //~ null/dereference
			break;
		}
		list->key++;
	}
	return 0;
}

int told_by_the_entry_at_hand(struct entry *list) //~ clean
{
	for (; list; list = list->next) {
		struct entry *of = list->of;

		if (!of) {
			fprintf(stderr, "no entry for %d\n", list->key);
			break;
		}
		list->key++;
	}
	return 0;
}

/* Nothing but a null pointer ends the loop. */
int last_key(struct entry *list, int key)
{
	while (list) {
		list->key = key;
		list = list->next;
	}
	return list->key; //~ null/dereference
}

int key_of_none(struct entry *list, int key)
{
	struct entry *found;

	for (;;) {
		found = list->of;
		if (!found)
			break;
		if (found->key == key)
			return 0;
		list = list->next;
	}
	return found->key; //~ null/dereference
}

/* The search may be known to succeed. */
int key_of_found(struct entry *list, int key)
{
	while (list && list->key != key)
		list = list->next;
	return list->key; //~ note null/dereference
}

/* A new one takes its place. */
int key_of_another(struct entry *list, struct entry *other) //~ clean
{
	while (list) {
		list->key++;
		list = list->next;
	}
	list = other;
	return list->key;
}
