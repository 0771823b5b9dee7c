// A comparison with null that a loop comes to in each round is asked for the sake of any of them: it says something of what was done before only if
// the pointer has been followed in all rounds.
#define NULL ((void *)0)

struct route {
    int dest, weight;
    struct route *next;
};

struct route *new_route(int dest);

// Both parts of the loop's condition are there for the rounds that follow.
int same_routes(struct route *x, struct route *y)
{
    if (x->dest != y->dest) //~ known-false-positive note null/dereference
        return 0;
    for (; x && y; x = x->next, y = y->next) {
        if (x->weight != y->weight)
            return 0;
    }
    return !x && !y;
}

// `first` is null in the first round, and was made and followed before in the second.
struct route *copy_routes(struct route *from, int (*count)(struct route *))
{
    struct route *first = NULL, *made = NULL, **link = &first;
    for (; from; from = from->next) {
        made = new_route(from->dest);
        made->weight = from->weight; //~ known-false-positive note null/dereference
        if (!first)
            count(made);
        *link = made;
        link = &made->next;
    }
    return first;
}

// In all rounds it is followed before it is asked for.
int weight_of_all(struct route *x, int rounds)
{
    int sum = 0;
    for (int i = 0; i < rounds; i++) {
        sum += x->weight; //~ null/dereference
        if (!x)
            return -1;
        sum += x->dest;
    }
    return sum;
}

// Asked for before the loop, behind what follows it.
int first_weight(struct route *x)
{
    int weight = x->weight; //~ null/dereference
    if (!x)
        return -1;
    for (; x; x = x->next)
        weight += x->weight;
    return weight;
}
