// Blocks that go with their last reference, counted by a member.
typedef __SIZE_TYPE__ size_t;
typedef unsigned int gfp_t;
#define GFP_KERNEL 0xcc0u
typedef struct refcount {
    int refs;
} refcount_t;
void *kmalloc(size_t size, gfp_t flags);
void kfree(const void *block);
void refcount_inc(refcount_t *count);
_Bool refcount_dec_and_test(refcount_t *count);
struct sk_buff {
    long data;
    refcount_t users;
};
void consume_skb(struct sk_buff *skb);
int send_data(long data);

struct request {
    int tag;
    refcount_t count;
};
int fill(struct request *r, int tag);

static void put(struct request *r)
{
    if (refcount_dec_and_test(&r->count))
        kfree(r);
}

static struct request *get(int tag, int users)
{
    struct request *r = kmalloc(sizeof *r, GFP_KERNEL);
    if (!r)
        return 0;
    r->tag = tag;
    r->count.refs = users;
    return r;
}

// One reference is the sender's, one that of whoever gets the answer.
int both_given_back(int tag) //~ clean
{
    struct request *r = get(tag, 2);
    if (!r)
        return -1;
    tag = r->tag + 1;
    put(r);
    put(r);
    return tag;
}

int last_one_used(int tag)
{
    struct request *r = get(tag, 1);
    if (!r)
        return -1;
    put(r);
    return r->tag; //~ certain heap/use-after-free
}

int one_used_behind_the_last(int tag)
{
    struct request *r = get(tag, 2);
    if (!r)
        return -1;
    put(r);
    put(r);
    return r->tag; //~ certain heap/use-after-free
}

int one_is_left(int tag) //~ clean
{
    struct request *r = get(tag, 1);
    if (!r)
        return -1;
    refcount_inc(&r->count);
    put(r);
    tag = r->tag;
    put(r);
    return tag;
}

// The buffer has another reference for the second time that it is sent.
static int send_buffer(struct sk_buff *skb)
{
    int r = send_data(skb->data);
    consume_skb(skb);
    return r;
}

int sent_twice(struct sk_buff *skb, int group, int report) //~ clean
{
    int err = 0;
    if (group) {
        if (report)
            refcount_inc(&skb->users);
        err = send_buffer(skb);
    }
    if (report)
        err = send_buffer(skb);
    return err;
}

int sent_twice_without(struct sk_buff *skb, int group, int report)
{
    int err = 0;
    if (group)
        err = send_buffer(skb);
    if (report)
        err = send_buffer(skb); //~ certain heap/use-after-free
    return err;
}
