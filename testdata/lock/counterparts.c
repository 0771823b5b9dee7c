/* Two functions that both depend on the same: one takes what the other gives back, and one caller calls both. */
void local_irq_disable(void);
void local_irq_enable(void);
struct mutex { int v; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct crtc { struct mutex lock; struct mutex power; int async; int vblank; };
int get_vblank(struct crtc *crtc);
void program(struct crtc *crtc);
void start(struct crtc *crtc);
void end(struct crtc *crtc);
void begin(struct crtc *crtc);

void start(struct crtc *crtc) //~ clean
{
	if (crtc->async)
		return;
	if (get_vblank(crtc)) {
		local_irq_disable();
		return;
	}
	program(crtc);
	local_irq_disable();
	crtc->vblank = 1;
	local_irq_enable();
	program(crtc);
	local_irq_disable();
}

void end(struct crtc *crtc) //~ clean
{
	if (!crtc->async)
		local_irq_enable();
}

void update(struct crtc *crtc) //~ clean
{
	start(crtc);
	program(crtc);
	end(crtc);
}

/* There is nothing for this one. */
void begin(struct crtc *crtc)
{
	mutex_lock(&crtc->power);
	if (get_vblank(crtc))
		return; //~ certain lock/inconsistent-exit
	crtc->vblank = 1;
	mutex_unlock(&crtc->power);
}

void update_power(struct crtc *crtc) //~ clean
{
	begin(crtc);
	end(crtc);
}

/* What is written later is ended then, by a function that is stored for that. */
struct request { struct mutex *busy; void (*complete)(struct request *r); };
struct file { struct mutex busy; struct request request; };
int submit(struct request *r);

static void write_complete(struct request *r)
{
	struct file *f = (struct file *)((char *)r - __builtin_offsetof(struct file, request));

	mutex_unlock(&f->busy); //~ known-false-positive note lock/unlock-unheld
}

int write_later(struct file *f)
{
	int error;

	if (!f->request.busy)
		return -12;
	mutex_lock(&f->busy);
	f->request.complete = write_complete;
	error = submit(&f->request);
	switch (error) {
	case -529:
		break;
	default:
		mutex_unlock(&f->busy);
		break;
	}
	return error; //~ known-false-positive note lock/inconsistent-exit
}
