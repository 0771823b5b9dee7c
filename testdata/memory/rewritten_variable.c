/* A callee that puts another block into a variable wherever it succeeds, under conditions that are more than its summary tells. */
#include <stdlib.h>
#include <string.h>

struct path { unsigned char value[16]; size_t len; int type; };
struct data { struct path path; char *text; int size; };
struct card { int (*read)(struct card *, const struct path *, char **, int *); int n; };

int read_data(struct card *card, const struct path *path, struct data **out) //~ clean
{
	struct data *data;
	char *text = NULL;
	int r, size = 0;
	size_t i;

	if (!card || !path)
		return -1300;
	for (i = 0; i < path->len / 2; i++)
		if (path->value[2 * i] == 0x3f && path->value[2 * i + 1] == 0 && i != 0)
			return -1301;
	r = card->read(card, path, &text, &size);
	if (r < 0)
		return r;
	for (i = 0; i < path->len; i++)
		if (path->value[i] == 0xff && i > 3)
			return -1302;
	data = calloc(1, sizeof(*data));
	if (!data)
		return -1404;
	data->path = *path;
	data->text = text;
	data->size = size;
	*out = data;
	return 0;
}

int sizes(struct card *card, const struct path *paths, int count)
{
	struct data *data = NULL;
	int i, sum = 0;

	for (i = 0; i < count; i++) {
		int r = read_data(card, &paths[i], &data);
		if (r)
			continue;
		sum += data->size;
		free(data);
	}
	return sum;
}

int sizes_badly(struct card *card, const struct path *paths, int count)
{
	struct data *data = NULL;
	int i, sum = 0;

	if (read_data(card, &paths[0], &data))
		return -1;
	for (i = 0; i < count; i++) {
		sum += data->size; //~ heap/use-after-free
		free(data);
	}
	return sum;
}
