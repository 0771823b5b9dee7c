/* What the word "unlocked" in the name of a function says. */
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
int busy(void);

/* `unlocked` says that the lock is not held on entry, not that the function gives it back. */
struct clock { int pins; struct mutex pins_lock; };

int find_pin_unlocked(struct clock *clock, int pin)
{
	int found = busy();

	clock->pins = pin;
	mutex_unlock(&clock->pins_lock); //~ certain lock/unlock-unheld
	return found;
}

struct timer { int pins; struct mutex pins_lock; };

int find_timer_unlocked(struct timer *timer, int pin) //~ clean
{
	int found;

	mutex_lock(&timer->pins_lock);
	found = busy();
	timer->pins = pin;
	mutex_unlock(&timer->pins_lock);
	return found;
}
