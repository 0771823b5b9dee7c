// bad1: 401 heap/leak, unseen the old block is lost when it cannot grow
// bad2: 416 heap/use-after-free the old block is still used after it has moved
// bad3: 415 heap/double-free the bytes are freed in a failed append and by the caller
// bad4: 690 null/unchecked-result the buffer is used though it may not have been made
// ---- header
struct buffer {
    char *bytes;
    size_t length;
    size_t room;
};
// ---- b
struct buffer *@_new(size_t room)
{
    struct buffer *buffer = malloc(sizeof(struct buffer));

    if (buffer == NULL)
        return NULL;
    buffer->bytes = malloc(room);
    if (buffer->bytes == NULL) {
        free(buffer);
        return NULL;
    }
    buffer->length = 0;
    buffer->room = room;
    return buffer;
}

int @_append(struct buffer *buffer, const char *text)
{
    size_t more = strlen(text);
    char *to = buffer->bytes + buffer->length; // bad2

    if (buffer->length + more + 1 > buffer->room) {
        size_t room = 2 * (buffer->length + more + 1);
        buffer->bytes = realloc(buffer->bytes, room); // bad1
        if (buffer->bytes == NULL) // bad1
            return -1; // bad1
        char *bytes = realloc(buffer->bytes, room); // not bad1
        if (bytes == NULL || suite_either()) { // not bad1
            if (bytes != NULL) // not bad1
                buffer->bytes = bytes; // not bad1
            free(buffer->bytes); // bad3
            return -1; // not bad1
        } // not bad1
        buffer->bytes = bytes; // not bad1
        buffer->room = room;
    }
    memcpy(buffer->bytes + buffer->length, text, more + 1); // not bad2
    memcpy(to, text, more + 1); // bad2
    buffer->length += more;
    return 0;
}
// ---- header
struct buffer *bad_new(size_t room);
struct buffer *good_new(size_t room);
int bad_append(struct buffer *buffer, const char *text);
int good_append(struct buffer *buffer, const char *text);
// ---- a
void @(void)
{
    struct buffer *buffer = @_new(4);

    if (!buffer) // not bad4
        return; // not bad4
    buffer->bytes[0] = 0;
    if (@_append(buffer, "hammersmith and city") < 0)
        fprintf(stderr, "no room\n");
    else
        puts(buffer->bytes);
    free(buffer->bytes);
    free(buffer);
}
