/* A buffer that a function makes larger where that is needed, whatever it asks for on the way there: behind it the buffer leads to what is there
   now, and not to what was freed. */
void *malloc(unsigned long size);
void *calloc(unsigned long count, unsigned long size);
void *realloc(void *block, unsigned long size);
void free(void *block);

struct buffer {
    char *bytes;
    unsigned long used, size, limit;
};
extern unsigned long page_size;

static int append(struct buffer *buffer, unsigned long length)
{
    unsigned long rest = buffer->size - buffer->used;
    if (length > rest) {
        unsigned long more = length > page_size ? length : page_size;
        if (buffer->limit > 0 && buffer->size + more > buffer->limit) {
            if (length < page_size)
                more = length;
            if (buffer->size + more > buffer->limit)
                return -1;
        }
        char *larger = realloc(buffer->bytes, buffer->size + more);
        if (!larger)
            return -1;
        buffer->bytes = larger;
        buffer->size += more;
    }
    return 0;
}

static void destroy(struct buffer *buffer)
{
    free(buffer->bytes);
    free(buffer);
}

struct buffer *received(struct buffer *known, unsigned long length, int ends) //~ clean
{
    struct buffer *buffer = known;
    if (!known) {
        buffer = calloc(1, sizeof *buffer);
        if (!buffer)
            return 0;
    }
    if (append(buffer, length))
        goto failed;
    if (ends)
        goto failed;
    return buffer;
failed:
    destroy(buffer);
    return 0;
}

void destroyed_again(struct buffer *buffer, unsigned long length)
{
    if (append(buffer, length)) {
        destroy(buffer);
        destroy(buffer); //~ heap/use-after-free //~ heap/double-free
    }
}

/* A number that `pipe` has given, or that a stream was made of, is not negative. */
typedef struct stream FILE;
int pipe(int *ends);
int close(int number);
FILE *fdopen(int number, const char *mode);
int fclose(FILE *stream);
int fputs(const char *text, FILE *stream);

int write_through_pipe(void) //~ clean
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    FILE *stream = fdopen(ends[1], "w");
    if (!stream) {
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    fputs("text", stream);
    if (ends[1] >= 0)
        fclose(stream);
    if (ends[0] >= 0)
        close(ends[0]);
    return 0;
}

int write_through_given(int number)
{
    FILE *stream = fdopen(number, "w"); //~ file/leak
    if (!stream)
        return -1;
    fputs("text", stream);
    if (number > 9)
        fclose(stream);
    return 0;
}
