// bad1: 401 heap/leak the header is not freed when the body cannot be read
// bad2: 415 heap/double-free the body is freed with the message and once more
// bad3: 590 heap/bad-free the header may be the static one when it is freed
// bad4: 416 heap/use-after-free the header is compared after it was freed
// ---- header
struct message {
    char *header;
    char *body;
};
// ---- a
static char @_empty[] = "";

static char *@_part(const char *text, size_t length)
{
    char *part;

    if (length == 0)
        return @_empty; // bad3
        return strdup(""); // not bad3
    part = malloc(length + 1);
    if (part != NULL) {
        memcpy(part, text, length);
        part[length] = 0;
    }
    return part;
}

static int @_read(struct message *message, const char *text)
{
    const char *end = strchr(text, '|');

    if (end == NULL)
        return -1;
    message->header = @_part(text, end - text);
    if (message->header == NULL)
        return -1;
    message->body = suite_either() ? NULL : @_part(end + 1, strlen(end + 1));
    if (message->body == NULL) {
        free(message->header); // not bad1
        return -1;
    }
    return 0;
}

void @(void)
{
    struct message message;

    if (@_read(&message, suite_either() ? "to: all|closed" : "|closed") < 0) {
        puts("malformed");
        return;
    }
    puts(message.body);
    free(message.header);
    if (message.header[0] == 't') // bad4
        puts("addressed"); // bad4
    free(message.body);
    if (message.body != NULL) // bad2
        free(message.body); // bad2
}
