// What a function makes only where its arguments, or what lies there, say so is not made where the caller's say otherwise.
typedef unsigned long size_t;
void *malloc(size_t size);
void free(void *block);
int next_byte(void *stream);
long read(int number, void *to, unsigned long length);

struct buffer {
    int length;
    char *bytes;
};

struct station {
    int rate, signal, filled;
    long *counts;
};

static int read_buffer(void *stream, struct buffer *buffer)
{
    int length = next_byte(stream);

    if (length < 0)
        return -1;
    if (buffer->length == 0)
        return 0;
    if (length > buffer->length)
        return -1;
    if (!buffer->bytes) {
        buffer->bytes = malloc(length);
        if (!buffer->bytes)
            return -2;
    }
    if (read(0, buffer->bytes, length) < length)
        return -1;
    buffer->length = length;
    return 0;
}

int buffer_passed_over(void *stream) //~ clean
{
    struct buffer unused = { 0, 0 };
    int i, result;

    for (i = 0; i < 4; i++) {
        result = read_buffer(stream, &unused);
        if (result)
            return result;
    }
    return 0;
}

int buffer_lost(void *stream)
{
    struct buffer buffer = { 64, 0 };

    return read_buffer(stream, &buffer); //~ heap/leak
}

static void describe(struct station *station, int which, int counts)
{
    int i;

    if (which & 1) {
        station->rate = next_byte(0);
        station->filled |= 1;
    }
    if (which & 2) {
        station->signal = next_byte(0);
        station->filled |= 2;
    }
    for (i = 0; i < 8; i++)
        if (next_byte(station) > i)
            station->filled |= 4 << i;
    if (counts && (station->counts = malloc(8 * sizeof(long)))) {
        for (i = 0; i < 8; i++)
            station->counts[i] = next_byte(0);
    }
}

int described(void) //~ clean
{
    struct station station = { 0 };

    describe(&station, 3, 0);
    return station.rate + station.signal;
}

int described_with_counts(void)
{
    struct station station = { 0 };

    describe(&station, 3, 1); //~ heap/leak
    return station.rate + station.signal;
}
