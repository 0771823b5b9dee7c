// What nothing declares may be a macro of a header that is missing.
typedef long value;

struct setting {
    const char *name;
};

const char *name_of(value self) //~ clean
{
    struct setting *setting = 0;

    GET_STRUCT(self, struct setting, setting);
    return setting->name;
}

int found(value self) //~ clean
{
    struct setting *setting = 0;
    int done = 0;

    LOOK_UP(self, setting, done);
    return done ? setting->name[0] : 0;
}

void look_up(value self, struct setting *setting);

const char *by_a_function(value self)
{
    struct setting *setting = 0;

    look_up(self, setting);
    return setting->name; //~ certain null/dereference
}

// One of a missing header may be declared never to return.
char first(const char *name)
{
    if (!name)
        raise_error("no name");
    return *name; //~ note null/dereference
}

void tell(const char *what);

char first_after_telling(const char *name)
{
    if (!name)
        tell("no name");
    return *name; //~ certain null/dereference
}

void *malloc(unsigned long size);

// A macro of a header that is missing, which tells the compiler which way is taken.
int *made_or_null(void) //~ clean
{
    int *p = malloc(sizeof(int));

    if (__glibc_unlikely(p == 0))
        return 0;
    *p = 1;
    return p;
}

int *made_without_looking(int n)
{
    int *p = malloc(sizeof(int));

    if (__glibc_unlikely(n == 0))
        return p;
    *p = 1; //~ certain null/unchecked-result
    return p;
}

// `NULL` means one thing only, whether or not the header that defines it was found.
int *made_or_NULL(void) //~ clean
{
    int *p = malloc(sizeof(int));

    if (p == NULL)
        return NULL;
    *p = 1;
    return p;
}

int *made_unless_NULL(void)
{
    int *p = malloc(sizeof(int));

    if (p != NULL)
        return p;
    *p = 1; //~ certain null/dereference
    return NULL;
}
