// What is read from memory once more behind a call of a function that may do more than is known, and compared with null, says nothing of the pointer
// that was there before.
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
