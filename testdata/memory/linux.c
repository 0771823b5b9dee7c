// The kernel's allocators, buffers, references and files.
typedef __SIZE_TYPE__ size_t;
typedef unsigned int gfp_t;
#define GFP_KERNEL 0xcc0u
#define __GFP_NOFAIL 0x8000u
#define IS_ERR(p) ((unsigned long)(p) >= (unsigned long)-4095)
struct device;
struct sk_buff {
    unsigned int len;
};
struct net_device {
    int flags;
};
struct file;
struct urb {
    int status;
};
struct firmware {
    size_t size;
    const unsigned char *data;
};
struct kref {
    int count;
};
void kfree(const void *block);
void *kmem_cache_alloc(void *cache, gfp_t flags);
void kmem_cache_free(void *cache, void *block);
void *memdup_user(const void *from, size_t size);
void *devm_kmalloc(struct device *dev, size_t size, gfp_t flags);
struct sk_buff *__alloc_skb(unsigned int size, gfp_t flags, int how, int node);
void consume_skb(struct sk_buff *skb);
int netif_rx(struct sk_buff *skb);
struct sk_buff *skb_get(struct sk_buff *skb);
struct net_device *alloc_etherdev_mqs(int size, unsigned int tx, unsigned int rx);
void free_netdev(struct net_device *dev);
struct urb *usb_alloc_urb(int packets, gfp_t flags);
void usb_free_urb(struct urb *urb);
int usb_submit_urb(struct urb *urb, gfp_t flags);
int request_firmware(const struct firmware **fw, const char *name, struct device *dev);
void release_firmware(const struct firmware *fw);
struct file *filp_open(const char *name, int flags, unsigned short mode);
int filp_close(struct file *file, void *id);
void call_rcu(void *head, void (*func)(void *head));
_Bool refcount_dec_and_test(int *count);
void *krealloc(const void *block, size_t size, gfp_t flags);
void *dma_alloc_attrs(struct device *dev, size_t size, unsigned long *handle, gfp_t flags, unsigned long attrs);
void dma_free_attrs(struct device *dev, size_t size, void *block, unsigned long handle, unsigned long attrs);

struct node {
    int value;
    int count;
    void *rcu;
};

// The tree's own definition of an allocator: the row stands for it.
extern char pool[4096];
void *kmalloc(size_t size, gfp_t flags)
{
    return size > sizeof pool ? (void *)0 : pool;
}

int lost_on_failure(int busy)
{
    struct node *n = kmalloc(sizeof *n, GFP_KERNEL); //~ certain heap/leak
    if (!n)
        return -1;
    if (busy)
        return -2;
    kfree(n);
    return 0;
}

int freed_on_failure(int busy) //~ clean
{
    struct node *n = kmalloc(sizeof *n, GFP_KERNEL);
    if (!n)
        return -1;
    kfree(n);
    return busy ? -2 : 0;
}

void unchecked(void)
{
    struct node *n = kmalloc(sizeof *n, GFP_KERNEL);
    n->value = 1; //~ certain null/unchecked-result
    kfree(n);
}

void never_fails(void) //~ clean
{
    struct node *n = kmalloc(sizeof *n, GFP_KERNEL | __GFP_NOFAIL);
    n->value = 1;
    kfree(n);
}

int used_after_free(void *cache)
{
    struct node *n = kmem_cache_alloc(cache, GFP_KERNEL);
    if (!n)
        return -1;
    kmem_cache_free(cache, n);
    return n->value; //~ certain heap/use-after-free
}

// What is no pointer must not be freed. No path is thought of on which something lies where error numbers do.
int error_freed(const void *from)
{
    int *copy = memdup_user(from, 4);
    int result = -1;
    if (IS_ERR(copy))
        goto out;
    result = *copy;
out:
    kfree(copy); //~ known-miss heap/bad-free
    return result;
}

int error_not_freed(const void *from) //~ clean
{
    int *copy = memdup_user(from, 4);
    int result;
    if (IS_ERR(copy))
        return -1;
    result = *copy;
    kfree(copy);
    return result;
}

int copy_lost(const void *from, int busy)
{
    int *copy = memdup_user(from, 4); //~ certain heap/leak
    if (IS_ERR(copy))
        return -1;
    if (busy)
        return -2;
    kfree(copy);
    return 0;
}

int freed_with_the_device(struct device *dev) //~ clean
{
    struct node *n = devm_kmalloc(dev, sizeof *n, GFP_KERNEL);
    if (!n)
        return -1;
    n->value = 1;
    return 0;
}

void freed_though_the_device_does(struct device *dev)
{
    struct node *n = devm_kmalloc(dev, sizeof *n, GFP_KERNEL);
    if (!n)
        return;
    kfree(n); //~ certain heap/bad-free
}

void received_and_read(struct sk_buff *skb, unsigned long *bytes)
{
    netif_rx(skb);
    *bytes += skb->len; //~ certain heap/use-after-free
}

void read_and_received(struct sk_buff *skb, unsigned long *bytes) //~ clean
{
    *bytes += skb->len;
    netif_rx(skb);
}

unsigned int read_with_a_reference(struct sk_buff *skb) //~ clean
{
    unsigned int len;
    skb_get(skb);
    consume_skb(skb);
    len = skb->len;
    consume_skb(skb);
    return len;
}

int buffer_lost(int busy)
{
    struct sk_buff *skb = __alloc_skb(100, GFP_KERNEL, 0, -1); //~ certain heap/leak
    if (!skb)
        return -1;
    if (busy)
        return -2;
    netif_rx(skb);
    return 0;
}

int private_part_read(void)
{
    struct net_device *dev = alloc_etherdev_mqs(sizeof(struct node), 1, 1);
    struct node *n;
    if (!dev)
        return -1;
    n = (struct node *)((char *)dev + 64);
    n->value = 1;
    free_netdev(dev);
    return n->value; //~ certain heap/use-after-free
}

int urb_lost_on_failure(void)
{
    struct urb *urb = usb_alloc_urb(0, GFP_KERNEL);
    int *status;
    if (!urb)
        return -1;
    status = kmalloc(sizeof *status, GFP_KERNEL); //~ certain heap/leak
    if (!status) {
        usb_free_urb(urb);
        return -1;
    }
    *status = usb_submit_urb(urb, GFP_KERNEL);
    usb_free_urb(urb);
    return 0;
}

int urb_on_its_way(void) //~ clean
{
    struct urb *urb = usb_alloc_urb(0, GFP_KERNEL);
    if (!urb)
        return -1;
    return usb_submit_urb(urb, GFP_KERNEL);
}

int firmware_lost(struct device *dev)
{
    const struct firmware *fw;
    if (request_firmware(&fw, "name", dev)) //~ certain heap/leak
        return -1;
    if (fw->size < 4)
        return -2;
    release_firmware(fw);
    return 0;
}

int firmware_released(struct device *dev) //~ clean
{
    const struct firmware *fw = 0;
    int result = request_firmware(&fw, "name", dev);
    if (result)
        goto out;
    result = fw->data[0];
out:
    release_firmware(fw);
    return result;
}

int left_open(const char *name, int busy)
{
    struct file *file = filp_open(name, 0, 0); //~ certain file/leak
    if (IS_ERR(file))
        return -1;
    if (busy)
        return -2;
    filp_close(file, 0);
    return 0;
}

int closed(const char *name) //~ clean
{
    struct file *file = filp_open(name, 0, 0);
    if (IS_ERR(file))
        return -1;
    filp_close(file, 0);
    return 0;
}

static void node_gone(void *head)
{
    kfree((char *)head - __builtin_offsetof(struct node, rcu));
}

int freed_later(void) //~ clean
{
    struct node *n = kmalloc(sizeof *n, GFP_KERNEL);
    if (!n)
        return -1;
    n->value = 1;
    call_rcu(&n->rcu, node_gone);
    return n->value;
}

// Where the last reference goes the node does; others have it elsewhere.
void reference_dropped(void) //~ clean
{
    struct node *n = kmalloc(sizeof *n, GFP_KERNEL);
    if (!n)
        return;
    n->count = 1;
    if (refcount_dec_and_test(&n->count))
        kfree(n);
}

int old_block_lost(void)
{
    char *text = kmalloc(10, GFP_KERNEL); //~ certain heap/leak
    if (!text)
        return -1;
    text = krealloc(text, 20, GFP_KERNEL);
    if (!text)
        return -1;
    kfree(text);
    return 0;
}

int for_the_device(struct device *dev, int busy)
{
    unsigned long handle;
    char *block = dma_alloc_attrs(dev, 64, &handle, GFP_KERNEL, 0); //~ certain heap/leak
    if (!block)
        return -1;
    if (busy)
        return -2;
    dma_free_attrs(dev, 64, block, handle, 0);
    return 0;
}

struct sock {
    struct socket *sk_socket;
    int hash;
};
struct socket {
    struct sock *sk;
};
int sock_create_kern(void *net, int family, int type, int protocol, struct socket **res);
void sock_release(struct socket *sock);

// The socket is found by what it leads to: `sk->sk_socket`.
int control_socket(void *net, struct sock **sk) //~ clean
{
    struct socket *sock;
    int result = sock_create_kern(net, 2, 3, 1, &sock);

    if (result)
        return result;
    *sk = sock->sk;
    (*sk)->hash = 0;
    return 0;
}

int socket_lost(void *net)
{
    struct socket *sock;
    int result = sock_create_kern(net, 2, 3, 1, &sock); //~ certain file/leak

    if (result)
        return result;
    if (sock->sk->hash)
        return -1;
    sock_release(sock);
    return 0;
}
