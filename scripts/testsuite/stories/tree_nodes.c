// bad1: 416 heap/use-after-free the right side is read from the freed node
// bad2: 476 null/dereference the search follows a child that is not there
// bad3: 401 heap/leak the node is not freed when it is there already
// ---- header
struct branch {
    struct branch *left;
    struct branch *right;
    int key;
};
// ---- a
static void @_free(struct branch *branch)
{
    if (branch == NULL)
        return;
    @_free(branch->left);
    free(branch); // bad1
    @_free(branch->right);
    free(branch); // not bad1
}

static struct branch *@_smallest(struct branch *branch)
{
    while (branch->left != NULL)
        branch = branch->left;
    return branch;
}

static int @_insert(struct branch **root, int key)
{
    struct branch *branch = calloc(1, sizeof(*branch));

    if (branch == NULL)
        return -1;
    branch->key = key;
    while (*root != NULL) {
        if ((*root)->key == key) {
            free(branch); // not bad3
            return 0;
        }
        root = key < (*root)->key ? &(*root)->left : &(*root)->right;
    }
    *root = branch;
    return 1;
}

void @(void)
{
    struct branch *root = NULL;

    if (suite_either())
        @_insert(&root, 4);
    @_insert(&root, 4);
    @_insert(&root, 2);
    if (root != NULL) // not bad2
        printf("%d\n", @_smallest(root)->key); // not bad2
    printf("%d\n", @_smallest(root ? root->right : NULL)->key); // bad2
    @_free(root);
}
