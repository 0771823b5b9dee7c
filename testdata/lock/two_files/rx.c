#include "lock.h"

/* Takes the lock itself; tx.c has another function of this name. */
static void update(struct port *port) //~ clean
{
	spin_lock(&port->lock);
	port->count++;
	spin_unlock(&port->lock);
}

int rx_poll(struct port *port) //~ clean
{
	update(port);
	return port->count;
}

int rx_poll_locked(struct port *port)
{
	spin_lock(&port->lock);
	update(port); //~ lock/double-lock
	spin_unlock(&port->lock);
	return 0;
}
