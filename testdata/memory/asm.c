// What inline assembly gets may be found anywhere afterwards.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void free(void *block);

struct stats {
    long packets;
    struct stats *next;
};

struct stats *published;

int exchanged(void) //~ clean
{
    struct stats *made = malloc(sizeof *made);
    struct stats *old = 0;
    if (!made)
        return -1;
    __asm__ volatile("lock cmpxchgq %2, %1" : "+a"(old), "+m"(published) : "r"(made) : "memory");
    return 0;
}

int exchanged_or_freed(void) //~ clean
{
    struct stats *made = malloc(sizeof *made);
    struct stats *old = 0;
    if (!made)
        return -1;
    __asm__ volatile("lock cmpxchgq %2, %1" : "+a"(old), "+m"(published) : "r"(made) : "memory");
    if (old)
        free(made);
    return 0;
}

int exchanged_by_place(void) //~ clean
{
    struct stats *made = malloc(sizeof *made);
    if (!made)
        return -1;
    __asm__ volatile("xchgq %0, %1" : "+r"(made), "+m"(published) : : "memory");
    return 0;
}

// A barrier does nothing with its input.
int kept_by_nobody(void)
{
    struct stats *made = malloc(sizeof *made); //~ certain heap/leak
    if (!made)
        return -1;
    __asm__ volatile("" : : "r"(made) : "memory");
    return 0;
}

int freed_before(void)
{
    struct stats *made = malloc(sizeof *made);
    if (!made)
        return -1;
    __asm__ volatile("prefetch %0" : : "m"(*made));
    free(made);
    return made->packets != 0; //~ certain heap/use-after-free
}

int fetched_and_lost(void)
{
    struct stats *made = malloc(sizeof *made); //~ certain heap/leak
    if (!made)
        return -1;
    __asm__ volatile("prefetch %0" : : "m"(*made));
    return 0;
}

// Who casts a variable to void says that nothing is to be done with it.
int said_to_be_unused(void) //~ clean
{
    struct stats *made = malloc(sizeof *made);
    (void)made;
    return 0;
}
