// A function makes a block where its caller has given none; more than that decides what it returns.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct card;
struct message {
    int class, first, second;
    size_t expected, length;
    unsigned char *answer;
    unsigned status;
};

extern int transmit(struct card *card, struct message *message);
extern int check_status(struct card *card, unsigned status);
extern void tell(struct card *card, const char *text, int status);

static int ask(struct card *card, int class, int first, const unsigned char *asked, size_t room,
               unsigned char **answer, size_t *length, const unsigned char *nonce, size_t nonce_length)
{
    unsigned char own[4096], sent[255];
    size_t got = sizeof own;
    struct message message;
    int status;

    if (length && *length)
        got = *length;
    if (answer && *answer)
        message.answer = *answer;
    else
        message.answer = own;
    if (nonce) {
        if (nonce_length + room > sizeof sent)
            return -22;
        if (asked)
            memcpy(sent, asked, room);
        memcpy(sent + room, nonce, nonce_length);
    }
    message.class = class;
    message.first = first;
    if (answer) {
        message.expected = got > 255 ? 255 : got;
        message.length = got;
    } else {
        message.expected = 0;
        message.length = 0;
    }
    status = transmit(card, &message);
    tell(card, "sent", status);
    if (status < 0) {
        tell(card, "not sent", status);
        goto out;
    }
    status = check_status(card, message.status);
    if (status < 0) {
        tell(card, "refused", status);
        goto out;
    }
    if (length) {
        if (answer && *answer == NULL) {
            *answer = malloc(message.length);
            if (*answer == NULL) {
                status = -12;
                goto out;
            }
            memcpy(*answer, own, message.length);
        }
        *length = message.length;
        status = *length;
    }
out:
    tell(card, "done", status);
    return status;
}

struct cycle {
    unsigned char kind, rest[3];
};

int given(struct card *card, struct cycle *cycle)
{
    unsigned char *answer = (unsigned char *)cycle;
    size_t length = sizeof *cycle;
    int got;

    got = ask(card, 1, 2, NULL, 0, &answer, &length, NULL, 0); //~ a1 heap/leak
    if (got == sizeof *cycle)
        return 0;
    length = 1;
    answer = &cycle->kind;
    got = ask(card, 1, 2, NULL, 0, &answer, &length, NULL, 0); //~ a1 heap/leak
    if (got < 0)
        return got;
    return got == 1 ? 0 : -1;
}

int made(struct card *card)
{
    unsigned char *answer = NULL;
    size_t length = 0;
    int got = ask(card, 1, 2, NULL, 0, &answer, &length, NULL, 0); //~ a1 heap/leak

    if (got < 1)
        return -1;
    free(answer);
    return 0;
}
