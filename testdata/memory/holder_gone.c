/* A callee puts a pointer into a record of its own and frees the record: it keeps nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct message {
	const char *headers[8];
	unsigned used;
	const char *body;
};

extern struct message *last;

static struct message *create(void)
{
	return calloc(1, sizeof(struct message));
}

static int add_headers(struct message *m, const char *const *headers, unsigned count)
{
	unsigned i;

	if (!m || !headers)
		return -1;
	if (m->used + count > 8)
		return -1;
	for (i = 0; i != count; i++)
		m->headers[i + m->used] = headers[i];
	m->used += count;
	return 0;
}

static int set_body(struct message *m, const char *body)
{
	if (!m || !body)
		return -1;
	m->body = body;
	return 0;
}

static void destroy(struct message *m)
{
	free(m);
}

static int send_text(const char *text)
{
	static const char *headers[] = {"From: here", "To: there", "Subject: this"};
	struct message *m = create();

	if (!m)
		return -1;
	add_headers(m, headers, 3);
	set_body(m, text);
	puts(m->body);
	destroy(m);
	return 0;
}

static int send_and_keep(const char *text)
{
	struct message *m = create();

	if (!m)
		return -1;
	set_body(m, text);
	last = m;
	return 0;
}

int lost_where_it_fails(void)
{
	char *text = malloc(128); //~ heap/leak

	if (!text)
		return -1;
	memset(text, 0, 128);
	if (send_text(text) < 0)
		return -1;
	free(text);
	return 0;
}

int lost_where_it_is_sent(void)
{
	char *text = malloc(128); //~ heap/leak

	if (!text)
		return -1;
	memset(text, 0, 128);
	if (send_text(text) < 0) {
		free(text);
		return -1;
	}
	return 0;
}

int freed(void) //~ clean
{
	char *text = malloc(128);

	if (!text)
		return -1;
	memset(text, 0, 128);
	if (send_text(text) < 0) {
		free(text);
		return -1;
	}
	free(text);
	return 0;
}

int kept(void) //~ clean
{
	char *text = malloc(128);

	if (!text)
		return -1;
	memset(text, 0, 128);
	if (send_and_keep(text) < 0) {
		free(text);
		return -1;
	}
	return 0;
}
