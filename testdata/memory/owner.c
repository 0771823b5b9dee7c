// An element of a tree is taken out by way of the tree that it belongs to, and freed. The caller has found it in that tree: what
// the tree leads to afterwards is another element.

#include <stdlib.h>

struct tree;

struct node {
    struct tree *owner;
    int key;
    struct node *left;
    struct node *right;
    struct node *parent;
};

struct tree {
    struct node *root;
    int nodes;
};

static struct node *find(struct tree *tree, int key)
{
    struct node *node = tree->root;
    while (node) {
        if (key < node->key)
            node = node->left;
        else if (key > node->key)
            node = node->right;
        else
            return node;
    }
    return NULL;
}

static void unlink_node(struct tree *tree, struct node *node)
{
    struct node *child = node->left ? node->left : node->right;
    struct node *parent = node->parent;
    if (child)
        child->parent = parent;
    if (!parent)
        tree->root = child;
    else if (parent->left == node)
        parent->left = child;
    else
        parent->right = child;
    tree->nodes--;
}

void remove_node(struct node *node)
{
    struct tree *tree = node->owner;
    unlink_node(tree, node);
    free(node);
}

int replace(struct tree *tree, int key)
{
    struct node *node = find(tree, key);
    if (node != NULL)
        remove_node(node);
    if (tree->root)
        return tree->root->key; //~ note heap/use-after-free
    return 0;
}

int replace_and_look(struct tree *tree, int key)
{
    struct node *node = find(tree, key);
    if (node == NULL)
        return 0;
    remove_node(node);
    return node->key; //~ heap/use-after-free
}
