#include "lock.h"

/* Expects the lock held. */
static void update(struct port *port) //~ clean
{
	port->count--;
}

int tx_poll(struct port *port) //~ clean
{
	spin_lock(&port->lock);
	update(port);
	spin_unlock(&port->lock);
	return rx_poll(port);
}

int tx_poll_all(struct port *port)
{
	int count;

	spin_lock(&port->lock);
	count = rx_poll(port); //~ lock/double-lock
	spin_unlock(&port->lock);
	return count;
}
