/* A program that begins somewhere: what nobody calls there is dead, and what calls everything holds nothing. */
#define __must_hold(x)
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);

static struct mutex table_lock;
static int entries;

static void add_entry(int by) //~ clean
	__must_hold(&table_lock)
{
	entries += by;
}

void add_two(void) //~ clean
{
	mutex_lock(&table_lock);
	add_entry(1);
	add_entry(1);
	mutex_unlock(&table_lock);
}

static void load(int count)
{
	int i;

	for (i = 0; i < count; i++)
		add_entry(i);
}

void left_over(void)
{
	add_entry(7); //~ known-false-positive note lock/unlock-unheld
}

int main(int argc, char **argv)
{
	load(argc); //~ certain lock/unlock-unheld
	add_two();
	return entries;
}
