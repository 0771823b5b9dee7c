// Variables whose address outlives them.
typedef __SIZE_TYPE__ size_t;
int sprintf(char *to, const char *format, ...);
char *strdup(const char *text);

struct point {
    int x;
    int y;
};

char *label(int n)
{
    char text[16];
    sprintf(text, "%d", n);
    return text; //~ certain heap/returned-local
}

char *label_copied(int n) //~ clean
{
    char text[16];
    sprintf(text, "%d", n);
    return strdup(text);
}

char *label_kept(int n) //~ clean
{
    static char text[16];
    sprintf(text, "%d", n);
    return text;
}

char *label_into(char *to, int n) //~ clean
{
    char own[16];
    char *text = to ? to : own;
    sprintf(text, "%d", n);
    return to ? text : 0;
}

int *member(struct point *given)
{
    struct point own = { 1, 2 };
    struct point *p = given;
    if (!p)
        p = &own;
    return &p->y; //~ certain heap/returned-local
}

int *member_of_given(struct point *given) //~ clean
{
    struct point own = { 1, 2 };
    struct point *p = given ? given : &own;
    p->x = 3;
    return given ? &given->y : 0;
}

static char *end(char *text)
{
    while (*text)
        text++;
    return text;
}

size_t length(void) //~ clean
{
    char text[16];
    sprintf(text, "%d", 3);
    return end(text) - text;
}

// How deep the stack is.
size_t depth(void) //~ clean
{
    char here;
    return (size_t)&here;
}
