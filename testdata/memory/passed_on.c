/* An out-parameter that a function passes on to a method: what that puts there is not known, but that it may be another pointer is. */
#include <stddef.h>
#include <stdlib.h>

struct path { unsigned char value[16]; size_t len; int type; };
struct file { struct path path; int size; };
struct card;
struct ops { int (*select)(struct card *, const struct path *, struct file **); };
struct card { struct ops *ops; int n; };

int select_file(struct card *card, const struct path *path, struct file **file) //~ clean
{
	int r;
	size_t i;

	if (card == NULL || path == NULL)
		return -1300;
	if (file != NULL)
		*file = NULL;
	for (i = 0; i < path->len / 2; i++)
		if (path->value[2 * i] == 0x3f && path->value[2 * i + 1] == 0 && i != 0)
			return -1300;
	r = card->ops->select(card, path, file);
	if (r < 0)
		return r;
	if (file) {
		if (*file)
			(*file)->path = *path;
		else
			r = -1408;
	}
	return r;
}

int size_of(struct card *card, struct path *path) //~ clean
{
	struct file *file;
	int r = select_file(card, path, &file);
	if (r < 0)
		return r;
	return file->size;
}

/* Nobody gets the out-parameter: it is null. */
int select_none(struct card *card, const struct path *path, struct file **file) //~ clean
{
	*file = NULL;
	return card->ops->select(card, path, NULL);
}

int size_of_none(struct card *card, struct path *path)
{
	struct file *file;
	int r = select_none(card, path, &file);
	if (r < 0)
		return r;
	return file->size; //~ null/dereference
}
