#include "bus.h"

struct usb { struct mutex mutex; spinlock_t lock; struct bus *bus; int value; };

static int usb_read(struct bus *bus, int reg) //~ clean
{
	struct usb *usb = bus->priv;
	int value;

	mutex_lock(&usb->mutex);
	value = usb->value + reg;
	mutex_unlock(&usb->mutex);
	return value;
}

int usb_poll(struct usb *usb)
{
	int value;

	spin_lock(&usb->lock);
	value = usb->bus->read(usb->bus, 3); //~ lock/sleep-in-atomic
	spin_unlock(&usb->lock);
	return value;
}

void usb_probe(struct usb *usb) //~ clean
{
	usb->bus->read = usb_read;
	usb->bus->priv = usb;
}
