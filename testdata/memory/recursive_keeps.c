// What recursive functions keep is a least fixed point: one that only passes its argument on to itself keeps it nowhere.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

int is_list(const char *name);

static void copy(FILE *in, FILE *out, int depth)
{
    int c;
    while ((c = getc(in)) != EOF) {
        if (c == '}')
            break;
        if (c == '{')
            copy(in, depth > 8 ? NULL : out, depth + 1);
        else if (out)
            putc(c, out);
    }
}

void show(const char *name)
{
    FILE *in = fopen(name, "r"); //~ file/leak
    if (!in)
        return;
    copy(in, stdout, 0);
}

void show_and_close(const char *name) //~ clean
{
    FILE *in = fopen(name, "r");
    if (!in)
        return;
    copy(in, stdout, 0);
    fclose(in);
}

// Two that call each other, one of which keeps what it gets.
struct tree {
    struct tree *left, *right;
    char *name;
};

static struct tree *root;
static int put_right(struct tree *at, struct tree *new, int depth);

static int put_left(struct tree *at, struct tree *new, int depth)
{
    if (!at->left) {
        at->left = new;
        return depth;
    }
    return put_right(at->left, new, depth + 1);
}

static int put_right(struct tree *at, struct tree *new, int depth)
{
    if (!at->right) {
        at->right = new;
        return depth;
    }
    return put_left(at->right, new, depth + 1);
}

int add(char *name) //~ clean
{
    struct tree *new = calloc(1, sizeof(*new));
    if (!new)
        return -1;
    new->name = name;
    if (!root) {
        root = new;
        return 0;
    }
    return put_left(root, new, 0);
}

// Two that call each other and only look.
static int odd(const struct tree *t, int depth);

static int even(const struct tree *t, int depth)
{
    if (!t || depth < 0)
        return 1;
    return odd(t->left, depth - 1);
}

static int odd(const struct tree *t, int depth)
{
    if (!t || depth < 0)
        return 0;
    return even(t->right, depth - 1);
}

int looked_at(char *name)
{
    struct tree *new = calloc(1, sizeof(*new)); //~ heap/leak
    if (!new)
        return -1;
    new->name = name;
    return even(new, 4);
}

// A recursive function that frees all of a tree.
static void free_tree(struct tree *t)
{
    if (!t)
        return;
    free_tree(t->left);
    free_tree(t->right);
    free(t);
}

int freed(char *name) //~ clean
{
    struct tree *new = calloc(1, sizeof(*new));
    if (!new)
        return -1;
    new->name = name;
    free_tree(new);
    return 0;
}

int used_after_all_was_freed(char *name)
{
    struct tree *new = calloc(1, sizeof(*new));
    if (!new)
        return -1;
    new->name = name;
    free_tree(new);
    return new->name != NULL; //~ heap/use-after-free
}
