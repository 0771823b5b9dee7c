// What a function closes may hang on a number that another one has set, of which its summary does not tell.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define PRIVATE 2
#define READ_ONLY 4
#define TINY 8

struct probe {
	int fd, flags, mode;
	long size;
};

int probe_mode(int fd);
long probe_size(int fd, int mode);

static int set_device(struct probe *probe, int fd)
{
	int i;

	probe->flags &= ~PRIVATE;
	probe->fd = fd;
	probe->mode = probe_mode(fd);
	for (i = 0; i < 3; i++) {
		probe->size = probe_size(fd, i);
		if (probe->size < 0)
			probe->flags |= READ_ONLY;
		else if (probe->size < 1024 * i)
			probe->flags |= TINY;
		if (probe->size == 77)
			return -1;
	}
	return probe->mode < 0 ? -1 : 0;
}

static void release(struct probe *probe)
{
	if ((probe->flags & PRIVATE) && probe->fd >= 0)
		close(probe->fd);
	free(probe);
}

struct probe *new_probe(const char *name) //~ clean
{
	int fd = open(name, O_RDONLY);
	struct probe *probe;

	if (fd < 0)
		return NULL;
	probe = calloc(1, sizeof *probe);
	if (!probe) {
		close(fd);
		return NULL;
	}
	if (set_device(probe, fd)) {
		close(fd);
		release(probe);
		return NULL;
	}
	probe->flags |= PRIVATE;
	return probe;
}

struct probe *new_probe_badly(const char *name)
{
	int fd = open(name, O_RDONLY);
	struct probe *probe;

	if (fd < 0)
		return NULL;
	probe = calloc(1, sizeof *probe);
	if (!probe) {
		close(fd);
		return NULL;
	}
	probe->fd = fd;
	probe->flags = PRIVATE;
	if (probe_mode(fd)) {
		close(fd);
		release(probe); //~ file/double-close
		return NULL;
	}
	return probe;
}

// How many there are goes with where they are.
struct device {
	char **mounts;
	size_t count;
	int known;
};

char *next_mount(int number);

static void add_mount(struct device *device, char *mount)
{
	char **more = realloc(device->mounts, (device->count + 1) * sizeof(char *));

	if (!more)
		abort();
	device->mounts = more;
	device->mounts[device->count++] = mount;
	device->known = 1;
}

static char **mounts_of(struct device *device, size_t *count)
{
	char *mount;
	int i = 0;

	if (!device->known) {
		free(device->mounts);
		device->mounts = NULL;
		device->count = 0;
		while ((mount = next_mount(i++)))
			add_mount(device, mount);
	}
	if (count)
		*count = device->count;
	return device->mounts;
}

char first_letter(struct device *device) //~ clean
{
	mounts_of(device, NULL);
	if (!device->count)
		return 0;
	return device->mounts[0][0];
}

int letters(struct device *device) //~ clean
{
	size_t count = 0, i;
	int sum = 0;
	char **mounts = mounts_of(device, &count);

	for (i = 0; i < count; i++)
		sum += mounts[i][0];
	return sum;
}
