/* Saturn, POPL'05, Figure 11: sound/oss/sscape.c locks devc->lock again through a callee. */
typedef struct { int v; } spinlock_t;
unsigned long _raw_spin_lock_irqsave(spinlock_t *lock);
void spin_unlock_irqrestore(spinlock_t *lock, unsigned long flags);
#define spin_lock_irqsave(lock, flags) do { flags = _raw_spin_lock_irqsave(lock); } while (0)
void outb(unsigned char value, int port);
unsigned char inb(int port);

#define PORT(name) (devc->base + (name))
#define GA_DMAA_REG 2
#define GA_HMCTL_REG 9

struct sscape_info {
	spinlock_t lock;
	int base;
	int ok;
};

static void sscape_write(struct sscape_info *devc, int reg, int data) //~ clean
{
	unsigned long flags;

	spin_lock_irqsave(&devc->lock, flags);
	outb(reg, PORT(4));
	outb(data, PORT(5));
	spin_unlock_irqrestore(&devc->lock, flags);
}

static void sscape_write_locked(struct sscape_info *devc, int reg, int data) //~ untouched
{
	outb(reg, PORT(4));
	outb(data, PORT(5));
}

void sscape_coproc_close(struct sscape_info *devc, int sub_device)
{
	unsigned long flags;

	spin_lock_irqsave(&devc->lock, flags);
	if (devc->ok) {
		sscape_write(devc, GA_DMAA_REG, 0x20); //~ lock/double-lock
		devc->ok = 0;
	}
	spin_unlock_irqrestore(&devc->lock, flags);
}

void sscape_coproc_close_repaired(struct sscape_info *devc, int sub_device) //~ clean
{
	unsigned long flags;

	spin_lock_irqsave(&devc->lock, flags);
	if (devc->ok) {
		sscape_write_locked(devc, GA_DMAA_REG, 0x20);
		devc->ok = 0;
	}
	spin_unlock_irqrestore(&devc->lock, flags);
}

/* Another device's register is no mistake. */
void sscape_link(struct sscape_info *devc, struct sscape_info *peer) //~ clean
{
	unsigned long flags;

	spin_lock_irqsave(&devc->lock, flags);
	sscape_write(peer, GA_HMCTL_REG, 0x40);
	spin_unlock_irqrestore(&devc->lock, flags);
}
