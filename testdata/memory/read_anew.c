// What is read from memory once more behind a call of a function that may do more than is known, or is what a call has returned, and is compared with
// null, says nothing of the pointer that was there before.
struct connection {
    int number, flags;
};

struct device {
    struct connection *connection;
    void (*lost)(struct device *device);
    int state;
};

void handle(struct device *device, int bytes);

static void count(struct device *device)
{
    device->state++;
}

void read_all(struct device *device)
{
    struct connection *connection = device->connection;

    connection->flags = 0; //~ known-false-positive note null/dereference
    while (connection->flags < 3) {
        handle(device, connection->number);
        if ((connection = device->connection) == 0)
            break;
    }
}

void read_once(struct device *device)
{
    device->connection->flags = 0; //~ known-false-positive note null/dereference
    handle(device, 1);
    if (!device->connection)
        return;
    device->state = 1;
}

void read_before(struct device *device)
{
    struct connection *connection = device->connection;

    connection->flags = 0; //~ null/dereference
    handle(device, connection->number);
    if (connection == 0)
        return;
    device->state = 1;
}

void read_and_counted(struct device *device)
{
    device->connection->flags = 0; //~ null/dereference
    count(device);
    if (!device->connection)
        return;
    device->state = 1;
}

#ifdef WITH_FILTERS
struct device *filtered(struct device *device);
#else
static inline struct device *filtered(struct device *device)
{
    return device;
}
#endif

int returned_anew(struct device *device)
{
    device->state = 1; //~ known-false-positive note null/dereference
    device = filtered(device);
    if (!device)
        return -1;
    return device->state;
}

int returned_before(struct device *device)
{
    device = filtered(device);
    device->state = 1; //~ null/dereference
    if (!device)
        return -1;
    return device->state;
}

int devices, most;
struct device *newest;

// The first look is taken without a lock: at the second there may be no more too many.
void asked_again(void)
{
    struct device *last = 0;

    if (devices <= most)
        return;
    if (devices > most) {
        last = newest;
        last->state = 1; //~ known-false-positive note null/dereference
    }
    if (last)
        last->lost(last);
}

void followed_on_each_way(void)
{
    struct device *last = 0;

    if (devices > most)
        last = newest;
    last->state = 1; //~ null/dereference
    if (last)
        last->lost(last);
}

// On the other way there is none, which is what the comparison is for.
void on_one_way_only(struct device *device, int finished) //~ clean
{
    struct connection *last = 0;

    if (finished) {
        last = device->connection;
        last->flags = 1;
    }
    device->state = 0;
    if (last)
        handle(device, last->number);
}

// What callees may write is not looked up where a variable of static storage is compared: others write it, too, such as a signal's handler.
static struct device *chosen;
static int pending;

static void send_pending(int number)
{
    pending = number;
}

static int letters(const char *name)
{
    return name[0] != 0 && name[1] != 0;
}

void asked_after_a_call(void)
{
    chosen->state = 1; //~ known-false-positive note null/dereference
    send_pending(3);
    if (!chosen)
        return;
    chosen->state = 2;
}

void asked_at_once(void)
{
    chosen->state = 1; //~ null/dereference
    if (!chosen)
        return;
    send_pending(3);
    chosen->state = 2;
}

void asked_after_a_mere_look(const char *name)
{
    chosen->state = letters(name); //~ null/dereference
    if (!chosen || letters(name))
        return;
    chosen->state = 2;
}
