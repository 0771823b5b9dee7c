#include "bus.h"

struct pci { spinlock_t lock; struct bus *bus; int base; };

static int pci_read(struct bus *bus, int reg) //~ untouched
{
	struct pci *pci = bus->priv;

	return pci->base + reg;
}

int pci_interrupt(struct pci *pci) //~ clean
{
	int value;

	spin_lock(&pci->lock);
	value = pci->bus->read(pci->bus, 3);
	spin_unlock(&pci->lock);
	return value;
}

void pci_probe(struct pci *pci) //~ untouched
{
	pci->bus->read = pci_read;
	pci->bus->priv = pci;
}
