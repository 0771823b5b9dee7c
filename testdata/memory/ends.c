// Functions that end the program, and pointers that are null only for those.
void exit(int status);
void abort(void);
int printf(const char *format, ...);
extern int checking;

struct object {
    int count;
};

struct object *load(void);

static void report(int line)
{
    printf("line %d\n", line);
    if (checking)
        return;
    exit(1);
}

static void warn(int line)
{
    printf("line %d\n", line);
}

void reported(void)
{
    struct object *o = load();
    if (!o)
        report(__LINE__);
    o->count--; //~ note null/dereference
}

void warned(void)
{
    struct object *o = load();
    if (!o)
        warn(__LINE__);
    o->count--; //~ certain null/dereference
}

struct client {
    struct object *command;
    struct object *argument;
};

static void tell(struct client *c)
{
    printf("%d\n", c->argument->count);
}

#define check(c, condition) ((condition) ? (void)0 : (tell(c), abort()))

int asserted(struct client *c)
{
    int found = 0;
    if (c->argument)
        found = 1;
    check(c, c->command != 0); //~ note null/dereference
    return found;
}

int told(struct client *c)
{
    int found = 0;
    if (c->argument)
        found = 1;
    tell(c); //~ certain null/dereference
    return found;
}

// One of several methods follows what another one does not.
struct table {
    void (*number)(struct object *o);
};

static void count(struct object *o)
{
    o->count++;
}

static void leave(struct object *o)
{
    (void)o;
}

const struct table counting = {count};
const struct table leaving = {leave};

static void parse(const struct table *t, struct object *o)
{
    t->number(o);
}

int parsed(const struct table *t, struct object *o)
{
    int known = 0;
    if (o)
        known = 1;
    parse(t, o); //~ note null/dereference
    return known;
}

static void count_twice(struct object *o)
{
    count(o);
    count(o);
}

int counted(struct object *o)
{
    int known = 0;
    if (o)
        known = 1;
    count_twice(o); //~ certain null/dereference
    return known;
}

/* A function in which no way leads to a return, though its loops are not executed to their end. */
struct display {
	struct display *next;
	int kind, width, height, open;
};

static struct display *displays;

void close_it(struct display *display);

static void panic(const char *message)
{
	for (struct display *display = displays; display; display = display->next) {
		if (display->kind == 1)
			puts("one");
		if (display->width > 80)
			puts("wide");
		if (display->height > 25)
			puts("high");
		if (display->open)
			close_it(display);
	}
	puts(message);
	exit(1);
}

int panics(void) //~ clean
{
	int *number = malloc(sizeof(*number));

	if (number == NULL)
		panic("no memory");
	*number = 3;
	free(number);
	return 0;
}
