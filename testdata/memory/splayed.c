// The root that a search leaves is null only where it was given none, which takes the solver to tell: the loop moves on to what it has tested.
#include <stdlib.h>
struct tree { struct tree *left, *right; int key; };
struct tree *splay(struct tree *t, int i)
{
    struct tree n, *l, *r, *y;
    int comp;
    if (t == NULL) return t;
    n.left = n.right = NULL;
    l = r = &n;
    for (;;) {
        comp = i - t->key;
        if (comp < 0) {
            if (t->left == NULL) break;
            if (i - t->left->key < 0) {
                y = t->left;
                t->left = y->right;
                y->right = t;
                t = y;
                if (t->left == NULL) break;
            }
            r->left = t;
            r = t;
            t = t->left;
        } else if (comp > 0) {
            if (t->right == NULL) break;
            l->right = t;
            l = t;
            t = t->right;
        } else
            break;
    }
    l->right = t->left;
    r->left = t->right;
    t->left = n.right;
    t->right = n.left;
    return t;
}

int key_of(struct tree *t, int i)
{
    if (!t)
        return 0;
    t = splay(t, i);
    return t->key;
}

int key_of_none(int i)
{
    struct tree *t = splay(NULL, i);
    return t->key; //~ note null/unchecked-result
}
