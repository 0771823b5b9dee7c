// bad1: 416 heap/use-after-free the object is used after its last reference went
// bad2: 415 heap/double-free the last reference is dropped and the object is freed, too
// bad3: 401 heap/leak a reference is taken that nobody drops
// ---- header
struct object {
    int references;
    int weight;
};
struct object *object_new(int weight);
struct object *object_get(struct object *object);
void object_put(struct object *object);
// ---- b shared
struct object *object_new(int weight)
{
    struct object *object = malloc(sizeof(*object));

    if (object) {
        object->references = 1;
        object->weight = weight;
    }
    return object;
}

struct object *object_get(struct object *object)
{
    object->references++;
    return object;
}

void object_put(struct object *object)
{
    if (--object->references == 0)
        free(object);
}
// ---- a
void @(void)
{
    struct object *object = object_new(12);
    struct object *other;

    if (object == NULL)
        return;
    other = object_get(object);
    printf("%d\n", other->weight);
    object_put(other); // not bad3
    object_put(object);
    free(object); // bad2
    printf("%d\n", object->weight); // bad1
}
