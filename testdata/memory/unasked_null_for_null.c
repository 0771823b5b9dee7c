// A result that is null where an argument is, which nobody compares with null.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct set {
    int used;
};

struct session {
    struct set *set;
    int users;
};

int is_large(const struct session *s);

static struct set *set_of(struct session *s)
{
    if (!s)
        return NULL;
    if (s->set)
        return s->set;
    s->set = malloc(sizeof(*s->set));
    if (!s->set)
        abort();
    s->set->used = is_large(s) ? s->users : 0;
    return s->set;
}

int one(struct session *s)
{
    struct set *set = set_of(s);
    return set ? set->used : -1;
}

int two(struct session *s)
{
    struct set *set = set_of(s);
    if (set == NULL)
        return -1;
    return set->used;
}

int three(struct session *s)
{
    struct set *set = set_of(s);
    if (set == NULL)
        return -3;
    return set->used;
}

int asks_nothing(struct session *s)
{
    struct set *set = set_of(s);
    return set->used; //~ note null/dereference
}

// This one asks what it passes, and forgets.
int asks_the_argument(struct session *s)
{
    struct set *set = set_of(s);
    if (!s)
        is_large(s);
    return set->used; //~ null/dereference
}

// A callee that is executed in place of its call returns its argument's member here, not null.
struct part {
    const uint8_t *base;
    size_t length;
};

static const uint8_t *pull(struct part *part, size_t length)
{
    const uint8_t *data;
    if (part->length < length)
        return NULL;
    data = part->base;
    part->base += length;
    part->length -= length;
    return data;
}

static inline uint8_t number_at(const uint8_t *p)
{
    return *p;
}

int sum(const uint8_t *data, uint8_t length) //~ clean
{
    struct part part = {data, length};
    int all = 0;
    while (part.length) {
        const uint8_t *value;
        all += number_at(pull(&part, 1));
        value = pull(&part, 2);
        if (!value)
            break;
        all += value[1];
        if (!pull(&part, 3))
            break;
    }
    return all;
}

int sum_of_two(const uint8_t *data, uint8_t length)
{
    struct part part = {data, length};
    int all = 0;
    while (part.length) {
        all += number_at(pull(&part, 2)); //~ note null/unchecked-result
        if (!pull(&part, 1))
            break;
        if (!pull(&part, 3))
            break;
        if (!pull(&part, 4))
            break;
    }
    return all;
}

// That there is no memory is nothing that a caller need not ask about.
struct head {
    struct head *next;
    char bytes[];
};

static struct head *all;

static char *made(size_t size)
{
    struct head *head = calloc(1, sizeof(*head) + size);
    if (!head)
        return NULL;
    head->next = all;
    all = head;
    return head->bytes;
}

char *made_and_filled(size_t size)
{
    char *bytes = made(size + 1);
    bytes[0] = 'a'; //~ null/unchecked-result
    return bytes;
}

char *made_and_tested(size_t size)
{
    char *bytes = made(size);
    return bytes ? bytes + 1 : NULL;
}

char *made_and_tested_again(size_t size)
{
    char *bytes = made(size + 2);
    if (bytes == NULL)
        return NULL;
    bytes[1] = 'b';
    return bytes;
}

char *made_and_tested_once_more(size_t size)
{
    char *bytes = made(size + 3);
    if (!bytes)
        abort();
    bytes[1] = 'c';
    return bytes;
}
