// Without a `main` this is a part of a program, whose rest may change what is not static.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void free(void *block);

int five = 5;
static int four = 4;

void freed_if_five(void)
{
    char *p = malloc(8); //~ certain heap/leak

    if (five == 5)
        free(p);
}

void freed_if_four(void) //~ clean
{
    char *p = malloc(8);

    if (four == 4)
        free(p);
}
