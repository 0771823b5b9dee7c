// An element of a ring is looked up twice: its pointer is one that the lookup has read from the element before, which is there.
struct rw_semaphore {
    int count;
};

void down_write(struct rw_semaphore *lock);
void up_write(struct rw_semaphore *lock);

struct volume {
    struct volume *next;
    int device;
    struct rw_semaphore unmounting;
};

extern struct volume volumes;

static struct volume *find_volume(int device)
{
    struct volume *volume;

    for (volume = volumes.next; volume != &volumes; volume = volume->next) {
        if (volume->device == device) {
            down_write(&volume->unmounting);
            return volume;
        }
    }
    return 0;
}

int asked_again(int device) //~ clean
{
    struct volume *volume = find_volume(device);

    if (!volume)
        return 0;
    up_write(&volume->unmounting);
    volume = find_volume(device);
    if (!volume)
        return 0;
    up_write(&volume->unmounting);
    return 1;
}

int given_back_twice(int device)
{
    struct volume *volume = find_volume(device);

    if (!volume)
        return 0;
    up_write(&volume->unmounting);
    up_write(&volume->unmounting); //~ note lock/double-unlock
    return 1;
}
