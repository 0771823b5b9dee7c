// zlib: what a stream has to itself, and files.
typedef struct z_stream_s {
    const unsigned char *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    struct internal_state *state;
    void *(*zalloc)(void *, unsigned int, unsigned int);
    void (*zfree)(void *, void *);
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
} z_stream;
typedef struct gz *gzFile;
int inflateInit_(z_stream *stream, const char *version, int size);
int inflate(z_stream *stream, int flush);
int inflateEnd(z_stream *stream);
gzFile gzopen(const char *name, const char *mode);
int gzread(gzFile file, void *to, unsigned int size);
int gzclose(gzFile file);

int stream_lost(unsigned char *in, unsigned char *out)
{
    z_stream stream = { 0 };
    stream.next_in = in;
    stream.next_out = out;
    if (inflateInit_(&stream, "1", sizeof stream) != 0) //~ note heap/leak
        return -1;
    if (inflate(&stream, 4) != 1)
        return -2;
    return inflateEnd(&stream);
}

int stream_ended(unsigned char *in, unsigned char *out) //~ clean
{
    z_stream stream = { 0 };
    int result;
    stream.next_in = in;
    stream.next_out = out;
    if (inflateInit_(&stream, "1", sizeof stream) != 0)
        return -1;
    result = inflate(&stream, 4);
    inflateEnd(&stream);
    return result;
}

// The second time there is nothing left to do.
int stream_ended_twice(void) //~ clean
{
    z_stream stream = { 0 };
    if (inflateInit_(&stream, "1", sizeof stream) != 0)
        return -1;
    inflateEnd(&stream);
    inflateEnd(&stream);
    return 0;
}

int stream_of_the_caller(z_stream *stream) //~ clean
{
    return inflateInit_(stream, "1", sizeof *stream);
}

int left_open(const char *name)
{
    char first;
    gzFile file = gzopen(name, "r"); //~ certain file/leak
    if (!file)
        return -1;
    if (gzread(file, &first, 1) != 1)
        return -2;
    gzclose(file);
    return first;
}

int read_when_closed(const char *name)
{
    char first = 0;
    gzFile file = gzopen(name, "r");
    if (!file)
        return -1;
    gzclose(file);
    gzread(file, &first, 1); //~ certain file/use-after-close
    return first;
}

// Reading from null fails, and does no harm.
int not_opened(const char *name) //~ clean
{
    char first = 0;
    gzFile file = gzopen(name, "r");
    gzread(file, &first, 1);
    gzclose(file);
    return first;
}

// The file closes the descriptor that it was made of.
int dup(int file);
int close(int file);
gzFile gzdopen(int file, const char *mode);

gzFile of_descriptor(int file) //~ clean
{
    int own = dup(file);
    gzFile gz = gzdopen(own, "rb");
    if (!gz && own >= 0)
        close(own);
    return gz;
}

gzFile of_descriptor_lost(int file)
{
    int own = dup(file); //~ file/leak
    if (own < 0)
        return 0;
    return gzdopen(own, "rb");
}
