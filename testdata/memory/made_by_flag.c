/* A function that copies a text or changes it in place, by a flag: only what asks for a copy gets one. */
void *malloc(unsigned long size);
void *memcpy(void *to, const void *from, unsigned long size);
void free(void *block);
void exit(int status);

enum how { GROWN, HEAP, STATIC, COPY, ALLOCATED, IN_PLACE, HEAP_COPY };
static char room[4096];
char *heap_copy(const char *text, unsigned long length);
char *grown(char *text, unsigned long length);

static char *quoted(char *text, unsigned long length, enum how how)
{
    unsigned long more = 0, at;
    for (at = 0; at < length; at++)
        if (text[at] < ' ')
            more++;
    if (more || how == COPY || how == HEAP_COPY) {
        char *copy;
        switch (how) {
        case GROWN:
            text = grown(text, length + more);
            break;
        case ALLOCATED:
        case COPY:
            copy = malloc(length + more);
            if (!copy)
                exit(1);
            text = memcpy(copy, text, length);
            break;
        case HEAP:
        case HEAP_COPY:
            text = heap_copy(text, length + more);
            break;
        case STATIC:
            text = memcpy(room, text, length);
            break;
        default:
            break;
        }
        text[length] = 0;
    }
    return text;
}

int length_in_place(char *text, unsigned long length) //~ clean
{
    return quoted(text, length, IN_PLACE)[0];
}

int first_of_static(char *text, unsigned long length) //~ clean
{
    return quoted(text, length, STATIC)[0];
}

int first_of_copy(char *text, unsigned long length)
{
    return quoted(text, length, COPY)[0]; //~ heap/leak
}

/* Most values of the flag ask for a copy. */
static char *converted(char *text, unsigned long length, enum how how)
{
    char *copy = text;
    unsigned long more = 0, at;
    for (at = 0; at < length; at++)
        if (text[at] < ' ')
            more++;
    if (more || how == COPY || how == HEAP_COPY)
        switch (how) {
        case ALLOCATED:
        case COPY:
        case GROWN:
        case HEAP:
        case HEAP_COPY:
            copy = malloc(length + more + 1);
            if (!copy)
                exit(1);
            memcpy(copy, text, length);
            break;
        case STATIC:
            copy = memcpy(room, text, length);
            break;
        case IN_PLACE:
            break;
        }
    copy[length + more] = 0;
    return copy;
}

int first_converted(char *text, unsigned long length) //~ clean
{
    return converted(text, length, IN_PLACE)[0] + converted(text, length, STATIC)[0];
}

int first_of_heap_copy(char *text, unsigned long length)
{
    return converted(text, length, HEAP_COPY)[0]; //~ heap/leak
}
