/* All locks of a table, taken from the first to the last and given back from the last to the first, again and again. */
#include <pthread.h>
#include <stdlib.h>

struct slot { pthread_mutex_t lock; char pad[64]; };
static struct slot *slots;
static unsigned int nr_slots;
static volatile int stopped;

static void slot_lock(struct slot *slot)
{
	if (pthread_mutex_lock(&slot->lock))
		exit(1);
}

static void slot_unlock(struct slot *slot)
{
	if (pthread_mutex_unlock(&slot->lock))
		exit(1);
}

void *rounds(void *data) //~ clean
{
	long i;
	do {
		for (i = 0; i < (long)nr_slots; i++)
			slot_lock(&slots[i]);
		for (i = (long)nr_slots - 1; i >= 0; i--)
			slot_unlock(&slots[i]);
	} while (!stopped);
	return data;
}

void *rounds_badly(void *data)
{
	long i;
	for (i = 0; i < (long)nr_slots; i++)
		slot_lock(&slots[i]);
	for (i = (long)nr_slots - 1; i >= 0; i--)
		slot_unlock(&slots[i]);
	for (i = (long)nr_slots - 1; i >= 0; i--)
		slot_unlock(&slots[i]); //~ lock/double-unlock
	return data;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	nr_slots = atoi(argv[argc - 1]);
	slots = calloc(nr_slots, sizeof(*slots));
	if (!slots)
		return 1;
	pthread_create(&thread, NULL, rounds, NULL);
	pthread_create(&thread, NULL, rounds_badly, NULL);
	return 0;
}
