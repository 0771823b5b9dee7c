/* Calls through the members of operations tables, which the initialisers fill. */

struct mutex { int state; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);

struct device;
struct device_ops {
	void (*enter)(struct device *device);
	void (*leave)(struct device *device);
	int (*try_enter)(struct device *device);
	int (*flush)(struct device *device);
};
struct device {
	struct mutex lock;
	const struct device_ops *ops;
	int busy, pending;
};

static void device_enter(struct device *device) //~ clean
{
	mutex_lock(&device->lock);
}

static void device_leave(struct device *device) //~ clean
{
	mutex_unlock(&device->lock);
}

static int device_try_enter(struct device *device) //~ clean
{
	if (device->busy)
		return -16;
	mutex_lock(&device->lock);
	return 0;
}

static int device_flush(struct device *device) //~ clean
{
	mutex_lock(&device->lock);
	device->pending = 0;
	mutex_unlock(&device->lock);
	return 0;
}

static const struct device_ops device_ops = {
	.enter = device_enter,
	.leave = device_leave,
	.try_enter = device_try_enter,
	.flush = device_flush,
};

void device_init(struct device *device) //~ untouched
{
	device->ops = &device_ops;
}

int device_read(struct device *device) //~ clean
{
	int pending;

	device->ops->enter(device);
	pending = device->pending;
	device->ops->leave(device);
	return pending;
}

int device_write(struct device *device)
{
	device->ops->enter(device);
	if (device->pending > 100)
		return 0; //~ lock/inconsistent-exit
	device->pending++;
	device->ops->leave(device);
	return 0;
}

int device_reset(struct device *device)
{
	int error;

	device->ops->enter(device);
	error = device->ops->flush(device); //~ lock/double-lock
	device->ops->leave(device);
	return error;
}

int device_poll(struct device *device) //~ clean
{
	if (device->ops->try_enter(device))
		return 0;
	device->pending++;
	device->ops->leave(device);
	return 1;
}

int device_poll_badly(struct device *device)
{
	device->ops->try_enter(device);
	device->ops->leave(device); //~ known-miss lock/unlock-unheld
	return 1;
}

/* Filled by assignments, and by position; two kinds with one effect. */
struct queue;
struct queue_ops {
	void (*get)(struct queue *queue);
	void (*put)(struct queue *queue);
};
struct queue { struct mutex lock; struct queue_ops ops; int length; };

static void fifo_get(struct queue *queue) //~ clean
{
	mutex_lock(&queue->lock);
	queue->length++;
}

static void lifo_get(struct queue *queue) //~ clean
{
	mutex_lock(&queue->lock);
	queue->length--;
}

static void any_put(struct queue *queue) //~ clean
{
	mutex_unlock(&queue->lock);
}

static struct queue_ops fifo = { fifo_get, any_put };

void queue_init(struct queue *queue, int lifo) //~ clean
{
	queue->ops = fifo;
	if (lifo)
		queue->ops.get = lifo_get;
}

void queue_touch(struct queue *queue) //~ clean
{
	queue->ops.get(queue);
	queue->ops.put(queue);
}

void queue_touch_twice(struct queue *queue)
{
	queue->ops.get(queue);
	queue->ops.get(queue); //~ lock/double-lock
	queue->ops.put(queue);
}

/* Either of two, one of which takes the lock: which it is, who made the port knows. */
struct port {
	struct mutex window;
	int (*read)(struct port *port, int at);
	int registers[4];
};

static int read_directly(struct port *port, int at) //~ untouched
{
	return port->registers[at];
}

static int read_by_window(struct port *port, int at) //~ clean
{
	int value;

	mutex_lock(&port->window);
	value = port->registers[at];
	mutex_unlock(&port->window);
	return value;
}

void port_init(struct port *port, int windowed) //~ clean
{
	port->read = windowed ? read_by_window : read_directly;
}

static int port_flush(struct port *port) //~ untouched
{
	int value = port->read(port, 0);

	port->registers[1] = value;
	return value;
}

int port_update(struct port *port) //~ clean
{
	int value;

	mutex_lock(&port->window);
	value = port_flush(port);
	mutex_unlock(&port->window);
	return value;
}

int port_update_badly(struct port *port)
{
	int value;

	mutex_lock(&port->window);
	value = read_by_window(port, 0); //~ lock/double-lock
	mutex_unlock(&port->window);
	return value;
}
