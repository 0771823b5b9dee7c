// Functions of which nothing is known get a block: what the function itself frees behind them they do not keep.
#include <stdlib.h>
#include <string.h>

struct range {
    int failed, known;
    int *values;
};

int fill(void *control, unsigned *data, unsigned size);
int parse(unsigned *data, unsigned size, unsigned **found);

int find_range(void *control, struct range *range)
{
    unsigned *data, *found;
    int size;

    data = malloc(4096); //~ heap/leak
    if (!data)
        return -1;
    if (fill(control, data, 4096) < 0)
        goto failed;
    size = parse(data, 4096, &found);
    if (size < 0)
        goto failed;
    range->values = malloc(size);
    if (!range->values)
        goto failed;
    memcpy(range->values, found, size);
    range->known = 1;
    return 0;
failed:
    free(data);
    range->failed = 1;
    return -1;
}

int find_range_and_free(void *control, struct range *range) //~ clean
{
    unsigned *data, *found;
    int size;

    data = malloc(4096);
    if (!data)
        return -1;
    if (fill(control, data, 4096) < 0)
        goto failed;
    size = parse(data, 4096, &found);
    if (size < 0)
        goto failed;
    range->values = malloc(size);
    if (!range->values)
        goto failed;
    memcpy(range->values, found, size);
    free(data);
    range->known = 1;
    return 0;
failed:
    free(data);
    range->failed = 1;
    return -1;
}

struct reader {
    int (*read)(void *from, char *to, size_t size);
    void *from;
};

int compare(const struct reader *reader, const char *wanted, size_t size, int times)
{
    char *found = malloc(size); //~ heap/leak

    if (!found)
        return -1;
    for (int i = 0; i < times; i++) {
        if (reader->read(reader->from, found, size) < 0) {
            free(found);
            return -1;
        }
        if (memcmp(found, wanted, size) != 0)
            return -2;
    }
    free(found);
    return 0;
}

// Who has taken a job keeps it.
int submit(void *queue, void *job);
int start(void *queue);
void withdraw(void *queue, void *job);
void forget_last(void *queue);

int submit_new(void *queue, size_t size) //~ clean
{
    void *job = malloc(size);

    if (!job)
        return -1;
    if (submit(queue, job) < 0) {
        free(job);
        return -1;
    }
    return 0;
}

// It is taken back before it is freed.
int submit_and_start(void *queue, size_t size) //~ clean
{
    void *job = malloc(size);

    if (!job)
        return -1;
    if (submit(queue, job) < 0) {
        free(job);
        return -1;
    }
    if (start(queue) < 0) {
        withdraw(queue, job);
        free(job);
        return -1;
    }
    return 0;
}

int submit_and_start_or_forget(void *queue, size_t size) //~ clean
{
    void *job = malloc(size);

    if (!job)
        return -1;
    if (submit(queue, job) < 0) {
        free(job);
        return -1;
    }
    if (start(queue) < 0) {
        forget_last(queue);
        free(job);
        return -1;
    }
    return 0;
}

// The job itself says whether somebody has it.
struct job {
    int taken;
    char text[60];
};

int offer(void *queue) //~ clean
{
    struct job *job = calloc(1, sizeof(*job));

    if (!job)
        return -1;
    submit(queue, job);
    if (!job->taken)
        free(job);
    return 0;
}

// What the function was told decides who frees it.
int pass(void *queue, int keeps, size_t size) //~ clean
{
    void *job = malloc(size);

    if (!job)
        return -1;
    submit(queue, job);
    if (!keeps)
        free(job);
    return 0;
}

// Who has not kept a message that was sent does not keep one that was not.
struct message {
    int kind;
    char text[100];
};

#define FAILED 0x2004

int send_message(void *to, struct message *message);
int drain_link(void *to);
struct reply *ask(void *to, struct message *message);
struct reply *checked(struct reply *reply);

int send_kind(void *to, int kind)
{
    struct message *message = malloc(sizeof *message); //~ heap/leak
    if (!message)
        return FAILED;
    message->kind = kind;
    if (send_message(to, message))
        return FAILED;
    drain_link(to);
    free(message);
    return 0;
}

int send_as_told(void *to, int kind)
{
    int result;
    struct message *message = malloc(sizeof *message); //~ heap/leak
    if (!message)
        return -1;
    message->kind = kind;
    if ((result = send_message(to, message)))
        return result;
    free(message);
    return drain_link(to);
}

struct reply *ask_for_kind(void *to, int kind)
{
    struct message *message = malloc(sizeof *message); //~ heap/leak
    if (!message)
        return NULL;
    message->kind = kind;
    struct reply *reply = ask(to, message);
    if (!reply)
        return NULL;
    free(message);
    return checked(reply);
}

int send_and_free(void *to, int kind) //~ clean
{
    int result;
    struct message *message = malloc(sizeof *message);
    if (!message)
        return -1;
    message->kind = kind;
    result = send_message(to, message);
    free(message);
    return result ? FAILED : drain_link(to);
}

/* Clean: 1 says that the list has it. */
int add_to_list(void *list, struct message *message);

int add_kind(void *list, int kind) //~ clean
{
    struct message *message = malloc(sizeof *message);
    if (!message)
        return 0;
    message->kind = kind;
    if (!add_to_list(list, message)) {
        free(message);
        return 0;
    }
    return 1;
}

/* Clean: one result says that the message is on its way. */
#define UNDER_WAY (-115)

int send_later(void *to, int kind) //~ clean
{
    int result;
    struct message *message = malloc(sizeof *message);
    if (!message)
        return -1;
    message->kind = kind;
    result = send_message(to, message);
    if (result == UNDER_WAY)
        return result;
    free(message);
    return result;
}
