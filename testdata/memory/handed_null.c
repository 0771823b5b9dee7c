/* Null that the source itself hands to a callee: whatever leads to the call leads to that. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct link;
int find_address(struct link *link, unsigned char *address);
int is_asked(struct link *link);

static void encode(const unsigned char *in, char *out)
{
    out[0] = "0123456789abcdef"[in[0] >> 4];
    out[1] = "0123456789abcdef"[in[0] & 15];
}

int add_address(struct link *link, char *out) //~ clean
{
    unsigned char address[16];
    if (is_asked(link) && find_address(link, address) == 6) {
        encode(address, out);
        return 1;
    }
    return 0;
}

int add_nothing(struct link *link, char *out)
{
    unsigned char address[16];
    if (is_asked(link) && find_address(link, address) == 6) {
        encode(NULL, out); //~ certain null/dereference
        return 1;
    }
    return 0;
}

/* The callee follows its argument only where it finds something, which the caller may know to be never. */
static int first_of(const char *const *names, const char *wanted)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], wanted) == 0)
            return i;
    return -1;
}

int nothing_wanted(const char *const *names)
{
    return first_of(names, NULL); //~ note null/dereference
}

/* The same in the caller's own text, as it were: the callee is executed in place of the call. */
static inline unsigned char high(const unsigned char *in)
{
    return in[0] >> 4;
}

int add_high(struct link *link, char *out)
{
    unsigned char address[16];
    if (is_asked(link) && find_address(link, address) == 6) {
        out[0] = "0123456789abcdef"[high(NULL)]; //~ certain null/dereference
        return 1;
    }
    return 0;
}

/* Only the world outside decides whether the callee follows its argument. */
void greet(char *name)
{
    if (getenv("GREETING") != NULL) {
        strcpy(name, "hello");
        puts(name);
        puts("and");
        puts("good");
        puts("morning");
    } else {
        puts("bye");
    }
}

void greets_nobody(void)
{
    char *name = malloc(20);

    if (name == NULL)
        puts("nobody");
    greet(name); //~ null/dereference
    free(name);
}

void greets_somebody(void) //~ clean
{
    char *name = malloc(20);

    if (name == NULL)
        return;
    greet(name);
    free(name);
}

/* A `switch` asks as an `if` does. */
int add_by_kind(int kind, unsigned char *address, char *out)
{
    switch (kind) {
    case 1:
        encode(address, out);
        return 1;
    case 2:
        encode(NULL, out); //~ certain null/dereference
        return 1;
    }
    return 0;
}
