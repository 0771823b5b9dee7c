// The head of a list is a record of another kind, which ends the list where an element would be. Taking the first element out changes it.
#include <stdlib.h>

struct tag {
	struct tag *next, *prev;
	char *file;
};

struct tag_list {
	struct tag *first, *last;
};

#define END ((struct tag *)&tags)
static struct tag_list tags = { END, END };

void drop_tags(void)
{
	struct tag *tag;

	while ((tag = tags.first) != END) {
		tag->next->prev = tag->prev; //~ note heap/use-after-free
		tag->prev->next = tag->next;
		free(tag->file); //~ note heap/double-free
		free(tag);
	}
}

void drop_tags_of(struct tag_list *list)
{
	struct tag *tag;

	while ((tag = list->first) != (struct tag *)list) {
		tag->next->prev = tag->prev; //~ note heap/use-after-free
		tag->prev->next = tag->next;
		free(tag->file); //~ note heap/double-free
		free(tag);
	}
}

void drop_tags_badly(void)
{
	struct tag *tag;

	while ((tag = tags.first) != END) {
		free(tag->file); //~ heap/use-after-free //~ heap/double-free
		free(tag);
	}
}

void add_tag(struct tag *tag)
{
	tag->next = END;
	tag->prev = tags.last;
	tags.last->next = tag;
	tags.last = tag;
}
