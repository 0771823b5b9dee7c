// bad1: 761 heap/bad-free the link within the record is freed, not the record
// bad2: 416 heap/use-after-free the link is followed after its record was freed
// bad3: 401 heap/leak the record is unlinked and forgotten
// ---- header
#define record_of(pointer, type, member) ((type *) ((char *) (pointer) - offsetof(type, member)))

struct link {
    struct link *next;
};

struct station {
    int zone;
    struct link link;
};
// ---- a
static int @_add(struct link *head, int zone)
{
    struct station *station = malloc(sizeof(*station));

    if (station == NULL)
        return -1;
    station->zone = zone;
    station->link.next = head->next;
    head->next = &station->link;
    return 0;
}

static void @_clear(struct link *head)
{
    while (head->next != NULL) {
        struct link *link = head->next;
        struct station *station = record_of(link, struct station, link);

        head->next = link->next; // not bad2
        printf("%d\n", station->zone);
        free(link); // bad1
        free(station); // not bad1 bad3
        head->next = link->next; // bad2
    }
}

void @(void)
{
    struct link head = {NULL};

    @_add(&head, 1);
    @_add(&head, 2);
    @_clear(&head);
}
