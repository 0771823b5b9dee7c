// What a function returns tells whether it has left null in a variable, be what decides that too much to be told to its callers.
typedef unsigned long size_t;
void *malloc(size_t size);
void *realloc(void *old, size_t size);
void free(void *block);
int check(int kind, int value);

struct step {
    int kind, first, last, spare;
};

static struct step *steps;
static unsigned room, used;
static int limits[8];

static void forget_steps(void)
{
    free(steps);
    steps = 0;
    room = used = 0;
}

static struct step *push_step(int kind)
{
    unsigned needed = (used + 1) * sizeof(*steps);

    if (room < needed) {
        void *more = 0;
        if (needed > 0x7fffffff) {
            forget_steps();
            return 0;
        }
        if (steps)
            more = realloc(steps, needed * 2);
        else
            more = malloc(needed * 2);
        if (!more) {
            forget_steps();
            return 0;
        }
        room = needed * 2;
        steps = more;
    }
    steps[used].kind = kind; //~ known-false-positive note null/dereference
    return steps + used++;
}

static int admitted(int kind, int value)
{
    if (limits[0] && check(kind, limits[0]))
        return 0;
    if (limits[1] && check(kind, limits[1]) && value > limits[2])
        return 0;
    if (limits[3] && check(value, limits[3]) && kind > limits[4])
        return 0;
    if (limits[5] && check(value, limits[6]))
        return 0;
    return 1;
}

int remove_lines(int first, int last)
{
    if (!admitted(first, last))
        return 0;
    if (!push_step(1))
        return 0;
    limits[7] += last - first;
    return 1;
}

int join_lines(int first, int last) //~ clean
{
    if (!remove_lines(first, last))
        return 0;
    if (!push_step(2))
        return 0;
    return 1;
}

int join_lines_anyhow(int first, int last)
{
    if (!remove_lines(first, last))
        limits[7] = 1;
    steps[0].last = last; //~ null/dereference
    return 1;
}
