// A callee perhaps puts a new block where callers find it: what they free and use then is the new block, or one that was there before.
#include <stdlib.h>

struct packet {
    struct packet *next;
    int length;
};

extern int ask(void);
extern void send_number(int length);

static struct packet *queue, *queue_end;

static int take_frame(int length)
{
    struct packet *packet;
    if (!ask())
        return 0;
    packet = malloc(sizeof *packet);
    if (packet != NULL) {
        packet->length = length;
        packet->next = NULL;
        if (queue == NULL)
            queue = packet;
        else
            queue_end->next = packet;
        queue_end = packet;
    }
    return 1;
}

static int take_frames(void)
{
    int taken = 0;
    while (ask())
        taken |= take_frame(ask());
    return taken;
}

void discard(void)
{
    struct packet *packet, *next;
    take_frames();
    for (packet = queue; packet != NULL; packet = next) {
        next = packet->next;
        free(packet);
        send_number(packet->length); //~ conc heap/use-after-free
    }
    queue = NULL;
}

void discard_in_order(void)
{
    struct packet *packet, *next;
    take_frames();
    for (packet = queue; packet != NULL; packet = next) {
        next = packet->next;
        send_number(packet->length);
        free(packet);
    }
    queue = NULL;
}

void discard_first(void)
{
    take_frames();
    free(queue);
    free(queue); //~ conc heap/double-free
    queue = NULL;
}
