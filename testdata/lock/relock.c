/* A lock kept from round to round, changed for another where the next object wants that one. */
typedef struct { int v; } spinlock_t;
void _raw_spin_lock(spinlock_t *lock);
void _raw_spin_unlock(spinlock_t *lock);
struct page { unsigned long flags; };
struct list { long counts[8]; spinlock_t lock; };
struct node { long pages[100]; struct list list; };
extern struct node *nodes[64];
struct batch { unsigned char count; struct page *pages[31]; };
void add(struct list *list, struct page *page);

static inline struct node *node_of(struct page *page)
{
	return nodes[page->flags >> 58];
}

static inline struct list *lock_list(struct page *page)
{
	struct node *node = node_of(page);

	_raw_spin_lock(&node->list.lock);
	return &node->list;
}

static inline void relock(struct page *page, struct list **listp)
{
	if (*listp) {
		if (&node_of(page)->list == *listp)
			return;
		_raw_spin_unlock(&(*listp)->lock);
	}
	*listp = lock_list(page);
}

static inline int clear_flag(struct page *page)
{
	asm volatile("btr %1,%0" : "+m"(page->flags) : "Ir"(5));
	return 1;
}

void move_all(struct batch *batch, void (*move)(struct list *, struct page *)) //~ clean
{
	struct list *list = 0;
	int i;

	for (i = 0; i < batch->count; i++) {
		struct page *page = batch->pages[i];

		if (move != add && !clear_flag(page))
			continue;
		relock(page, &list);
		move(list, page);
	}
	if (list)
		_raw_spin_unlock(&list->lock);
}

void move_most(struct batch *batch, void (*move)(struct list *, struct page *))
{
	struct list *list = 0;
	int i;

	for (i = 0; i < batch->count; i++) {
		struct page *page = batch->pages[i];

		if (move != add && !clear_flag(page))
			continue;
		relock(page, &list);
		if (page->flags & 1)
			return; //~ lock/inconsistent-exit
		move(list, page);
	}
	if (list)
		_raw_spin_unlock(&list->lock);
}
