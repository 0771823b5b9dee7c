// A function takes a reference to its argument if there is another one already, and returns the argument, or null: who has a reference need not ask.
int raised_unless_zero(int *count);
void use(void *block);

struct shared {
    int count, value, limit;
    struct shared *next;
};

struct shared *get(struct shared *shared)
{
    if (shared && raised_unless_zero(&shared->count))
        return shared;
    return 0;
}

struct shared *find(struct shared *list, int value)
{
    for (; list; list = list->next)
        if (list->value == value && raised_unless_zero(&list->count))
            return list;
    return 0;
}

int first(struct shared *shared)
{
    shared = get(shared->next);
    if (!shared)
        return 0;
    return shared->value;
}

int second(struct shared *shared)
{
    shared = get(shared->next);
    return shared ? shared->limit : -1;
}

int third(struct shared *shared)
{
    struct shared *other = get(shared->next);
    if (other == 0)
        return 7;
    return other->value + other->limit;
}

int owner(struct shared *shared)
{
    struct shared *other = get(shared->next);
    return other->value + 3; //~ known-false-positive note null/dereference
}

int first_found(struct shared *list)
{
    struct shared *found = find(list, 1);
    if (!found)
        return 0;
    return found->value;
}

int second_found(struct shared *list)
{
    struct shared *found = find(list, 2);
    return found ? found->limit : -1;
}

int third_found(struct shared *list)
{
    struct shared *found = find(list, 3);
    if (found == 0)
        return 7;
    return found->value + found->limit;
}

int fourth_found(struct shared *list)
{
    struct shared *found = find(list, 4);
    return found->value + 3; //~ null/unchecked-result
}
