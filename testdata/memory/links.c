// Elements of lists that are taken out before they are freed, and pointers into blocks.
typedef __SIZE_TYPE__ size_t;
typedef __UINTPTR_TYPE__ uintptr_t;
void *malloc(size_t size);
void free(void *block);
int posix_memalign(void **block, size_t alignment, size_t size);

struct queue {
    struct queue *prev, *next;
};

struct node {
    struct queue queue;
    long expire;
    char *name;
};

// The last one is another one each time.
void expire_last(struct queue *queue, long now)
{
    struct queue *q;
    struct node *n;

    for (int i = 0; i < 2; i++) {
        q = queue->prev;
        n = (struct node *)q;
        if (now <= n->expire) //~ note heap/use-after-free
            return;
        q->next->prev = q->prev;
        q->prev->next = q->next;
        free(n);
    }
}

void expire_last_without_taking_it_out(struct queue *queue, long now)
{
    struct queue *q;
    struct node *n;

    for (int i = 0; i < 2; i++) {
        q = queue->prev;
        n = (struct node *)q;
        if (now <= n->expire) //~ certain heap/use-after-free
            return;
        free(n);
    }
}

// What was taken out is still what it was.
long used_after_taking_it_out(struct queue *queue)
{
    struct node *n = (struct node *)queue->prev;

    n->queue.next->prev = n->queue.prev;
    n->queue.prev->next = n->queue.next;
    free(n);
    return n->expire; //~ certain heap/use-after-free
}

// An aligned pointer leads into the block.
static char *table;

int keep_aligned(void) //~ clean
{
    void *p = malloc(64 + 32);

    if (!p)
        return -1;
    p = (void *)(((uintptr_t)p + 31) & ~(uintptr_t)31);
    table = p;
    return 0;
}

// Parts of a block are given out, and a new one is made when it is used up.
struct pool {
    char *start;
    size_t size;
};

static void *part(struct pool *pool) //~ clean
{
    char *p;

    if (pool->size < 16) {
        void *page;

        if (posix_memalign(&page, 4096, 4096))
            return 0;
        pool->start = page;
        pool->size = 4096;
    }
    p = pool->start;
    pool->start += 16;
    pool->size -= 16;
    return p;
}

int parts(struct pool *pool, int count) //~ clean
{
    for (int i = 0; i < count; i++) {
        char *p = part(pool);

        if (!p)
            return -1;
        p[0] = 1;
    }
    return 0;
}

// The same by functions.
static void take_out(struct queue *q)
{
    q->next->prev = q->prev;
    q->prev->next = q->next;
}

static void drop(struct node *n)
{
    take_out(&n->queue);
    free(n);
}

void expire_last_by_functions(struct queue *queue, long now)
{
    for (int i = 0; i < 2; i++) {
        struct node *n = (struct node *)queue->prev;
        if (now <= n->expire) //~ note heap/use-after-free
            return;
        drop(n);
    }
}

// An element is taken off its list by its own pointer to the list, and freed.
struct member;

struct team {
    struct member *first;
};

struct member {
    struct member *next;
    char *name;
    struct team *team;
};

static struct team pending;

static void remove_member(struct member *member) //~ clean
{
    struct team *team = member->team;

    if (team->first == member)
        team->first = member->next;
    free(member);
}

static void rename_team(struct member *member) //~ clean
{
    member->name = member->team->first->name;
    free(member);
}

void remove_all(void)
{
    char *name;

    while (pending.first) {
        name = pending.first->name; //~ note heap/use-after-free
        remove_member(pending.first);
        (void)name;
    }
}

void remove_all_without_taking_them_off(void)
{
    while (pending.first) {
        char *name = pending.first->name; //~ certain heap/use-after-free
        rename_team(pending.first);
        (void)name;
    }
}

// An element is looked for and taken out of a list that a callee goes through afterwards.
struct request {
    int id;
    struct request *next, *prev;
};

static struct request *requests;

static int sum_of_requests(void) //~ clean
{
    int sum = 0;

    for (struct request *r = requests; r; r = r->next)
        sum += r->id;
    return sum;
}

int delete_request(struct request *request)
{
    struct request *r = requests;

    while (r) {
        if (r == request)
            break;
        r = r->next;
    }
    if (!r)
        return -1;
    if (!r->prev) {
        requests = r->next;
        free(r);
    } else if (!r->next) {
        r->prev->next = 0;
        free(r);
    } else {
        r->prev->next = r->next;
        r->next->prev = r->prev;
        free(r);
    }
    return sum_of_requests(); //~ note heap/use-after-free
}

int delete_request_without_taking_it_out(void)
{
    struct request *r = requests;

    if (!r)
        return -1;
    if (r->next)
        r = r->next;
    free(r);
    return sum_of_requests(); //~ certain heap/use-after-free
}
