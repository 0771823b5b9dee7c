// A callee frees a block by a count in it: who lets go of it does not know that it is gone.
#include <stdio.h>
#include <stdlib.h>

struct stream {
    int refs;
    int kind;
    struct context *context;
    char *name;
};

static struct stream *stream_new(void)
{
    struct stream *s = calloc(1, sizeof(*s));
    if (!s)
        exit(1);
    s->refs = 1;
    return s;
}

static void stream_free(struct stream *s)
{
    free(s->name);
    free(s);
}

void stream_unref(struct stream *s)
{
    if (--s->refs <= 0)
        stream_free(s);
}

void stream_free_unless_static(struct stream *s)
{
    if (s->kind != 2)
        stream_free(s);
}

void unlink_stream(struct stream *s)
{
    stream_unref(s);
    s->context = NULL; //~ note heap/use-after-free
}

void let_go_twice(struct stream *s)
{
    stream_unref(s);
    stream_unref(s); //~ note heap/double-free //~ note heap/use-after-free
}

// Through one more callee.
struct queue { struct stream *first; };

static void queue_drop(struct queue *q)
{
    stream_unref(q->first);
}

int drop_and_read(struct queue *q)
{
    queue_drop(q);
    return q->first->kind; //~ note heap/use-after-free
}

void own_stream(void)
{
    struct stream *s = stream_new();
    stream_unref(s);
    s->kind = 1; //~ heap/use-after-free
}

void own_twice(void)
{
    struct stream *s = stream_new();
    stream_unref(s);
    stream_unref(s); //~ heap/use-after-free //~ note heap/double-free
}

void by_kind(struct stream *s)
{
    stream_free_unless_static(s);
    s->context = NULL; //~ note heap/use-after-free
}
