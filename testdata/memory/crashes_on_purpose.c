/* Programs that end themselves by an access at an address which the source itself states: nobody writes that by mistake. A device's register
   at a low address is no null pointer either. */
struct list {
    struct list *next;
    int length;
};

static inline void crash_now(void) //~ clean
{
    *(volatile char *)1 = 0;
    __builtin_unreachable();
}

#define BUG_ON(wrong) do { if (wrong) crash_now(); } while (0)
#define CRASH() (*(volatile int *)0 = 0)

int length_of(struct list *list) //~ clean
{
    BUG_ON(list->length < 0);
    return list->length;
}

int next_length(struct list *list) //~ clean
{
    if (!list->next)
        CRASH();
    return list->next->length;
}

void wait_for_device(void) //~ clean
{
    while (!(*(volatile unsigned char *)0x25 & 1))
        *(volatile unsigned char *)0x26 = 1;
}

int length_of_none(int none)
{
    struct list *list = none ? (struct list *)0 : &(struct list){ 0, 1 };
    if (none)
        list->length = 1; //~ null/dereference
    return list->length;
}

int length_of_next(struct list *list)
{
    if (!list->next)
        list->length = 0;
    return list->next->length; //~ null/dereference
}
