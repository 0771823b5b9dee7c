// Functions of the library that return their argument, or null.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t size);
void free(void *block);
char *mkdtemp(char *name);
char *strcpy(char *to, const char *from);
size_t strlen(const char *text);

// What is freed is not what was made: then there is nothing to go on with.
size_t directory(void) //~ clean
{
    char *name = malloc(20), *made;
    size_t length = 0;
    if (!name)
        return 0;
    strcpy(name, "dirXXXXXX");
    made = mkdtemp(name);
    if (made != name)
        free(name);
    if (made) {
        length = strlen(made);
        free(made);
    }
    return length;
}

size_t directory_freed(void)
{
    char *name = malloc(20), *made;
    size_t length = 0;
    if (!name)
        return 0;
    strcpy(name, "dirXXXXXX");
    made = mkdtemp(name);
    free(name);
    if (made)
        length = strlen(made); //~ heap/use-after-free
    return length;
}
