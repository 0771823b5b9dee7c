/* The cache is left out in this configuration: nothing calls what would use it. */
struct operations {
    int (*read)(int block);
    int (*flush)(int block);
};

#ifdef WITH_CACHE
extern const struct operations *operations_of(int device);
#else
#define operations_of(device) ((const struct operations *)0)
#endif

static inline int cache_read(int device, int block) //~ clean
{
    const struct operations *operations = operations_of(device);
    return operations->read(block); //~ note null/dereference
}

static inline int cache_flush(int device, int block)
{
    const struct operations *operations = operations_of(device);
    return operations->flush(block); //~ null/dereference
}
