// A failure of a static function that none of its callers can bring about.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct set {
    int used;
    char *names[8];
};

void note(const char *what);

// All callers pass a set. That the function asks says nothing of them.
static int put(struct set *s, char *name)
{
    if (!s)
        note("no set");
    s->names[s->used++] = name; //~ note null/dereference
    return s->used;
}

int put_two(char *a, char *b)
{
    struct set s = {0};
    put(&s, a);
    return put(&s, b);
}

int put_if(struct set *s, char *a)
{
    if (!s)
        return -1;
    return put(s, a);
}

// One caller does not know.
static int put_any(struct set *s, char *name)
{
    if (!s)
        note("no set");
    s->names[s->used++] = name; //~ null/dereference
    return s->used;
}

int put_one(char *a)
{
    struct set s = {0};
    return put_any(&s, a);
}

int put_given(struct set *s, char *a)
{
    return put_any(s, a);
}

// It may be called by who gets its address, too.
static int put_by_table(struct set *s, char *name)
{
    if (!s)
        note("no set");
    s->names[s->used++] = name; //~ null/dereference
    return s->used;
}

int (*const table[])(struct set *, char *) = {put_by_table};

int put_third(char *a)
{
    struct set s = {0};
    return put_by_table(&s, a);
}

// Files outside the program call this one.
int put_by_anybody(struct set *s, char *name)
{
    if (!s)
        note("no set");
    s->names[s->used++] = name; //~ null/dereference
    return s->used;
}

int put_fourth(char *a)
{
    struct set s = {0};
    return put_by_anybody(&s, a);
}

// The comparison behind the access is superfluous, or the access is wrong.
static int put_early(struct set *s, char *name)
{
    s->names[s->used++] = name; //~ null/dereference
    if (!s)
        note("no set");
    return s->used;
}

int put_fifth(char *a)
{
    struct set s = {0};
    return put_early(&s, a);
}

// What decides is a number that all callers have asked for.
static char *twice(const char *text, int times)
{
    char *copy = NULL;
    if (times > 0)
        copy = strdup(text);
    else if (times < -4)
        free(copy);
    if (times < -4)
        puts(copy); //~ note null/dereference
    return copy;
}

char *copy_of(const char *text, int times)
{
    if (times < 1)
        return NULL;
    return twice(text, times);
}

// A round of the loop that is not looked at passes the number that it needs.
static char *some(const char *text, int times)
{
    char *copy = NULL;
    if (times != 9)
        copy = strdup(text);
    if (times == 9)
        puts(copy); //~ null/dereference
    return copy;
}

void copies_of(const char *text, int all)
{
    for (int i = 0; i < all; i++)
        free(some(text, i));
}

// The elements of a list are none, in whichever round.
struct element {
    struct element *next;
    char *name;
};

static void show(struct element *e)
{
    if (e == NULL)
        puts("none");
    puts(e->name); //~ note null/dereference
}

void show_all(struct element *first)
{
    for (struct element *e = first; e != NULL; e = e->next)
        show(e);
}

// How often a loop runs says nothing of a call: the rounds that are looked at are not all.
static void print_all(const char **names, int count)
{
    for (int i = 0; i < count; i++) {
        char *copy = strdup(names[i]); //~ heap/leak
        if (!copy)
            return;
        puts(copy);
    }
}

void print_four(void)
{
    const char *names[] = {"a", "b", "c", "d"};
    print_all(names, 4);
}

// But a number that all callers pass, which the loop does not count, says it.
enum wanted { KIND, NUMBER };

static int *numbers_of(const unsigned char *bytes, int length, enum wanted wanted)
{
    int *last = NULL;
    for (int i = 0; i < length; i++) {
        if (wanted == KIND) {
            if (bytes[i] > 7)
                continue;
        } else if (wanted == NUMBER && bytes[i] < 8)
            continue;
        if (wanted != KIND && wanted != NUMBER) {
            last = malloc(sizeof(*last));
            *last = bytes[i]; //~ note null/unchecked-result
            free(last);
            last = NULL;
        }
    }
    return last;
}

int has_numbers(const unsigned char *bytes, int length)
{
    return numbers_of(bytes, length, KIND) || numbers_of(bytes, length, NUMBER);
}

// Only a solver knows that `wanted` is 9 where it fails: the kinds are compared with each other.
static int numbers_like(const unsigned char *bytes, int length, unsigned char wanted)
{
    int count = 0;
    for (; length > 2; bytes += 3, length -= 3) {
        unsigned char kind = *bytes;
        if (wanted == 25) {
            if (kind != 1 && kind != 2)
                return -1;
        } else if (wanted == 0 && kind != 9) {
            return -1;
        } else if (wanted != 0 && kind != wanted) {
            return -1;
        }
        switch (kind) {
        case 9:
            if (wanted == 0) {
                count++;
            } else {
                unsigned char *last = malloc(2);
                *last = bytes[1]; //~ note null/unchecked-result
                free(last);
            }
            break;
        case 1:
            count += 2;
            break;
        }
    }
    return count;
}

int count_all(const unsigned char *bytes, int length)
{
    return numbers_like(bytes, length, 0) + numbers_like(bytes, length, 25);
}

static int nines_of(const unsigned char *bytes, int length, unsigned char wanted)
{
    int count = 0;
    for (; length > 2; bytes += 3, length -= 3) {
        unsigned char kind = *bytes;
        if (wanted != 0 && kind != wanted)
            return -1;
        if (kind == 9 && wanted != 0) {
            unsigned char *last = malloc(2);
            *last = bytes[1]; //~ null/unchecked-result
            free(last);
        }
        count++;
    }
    return count;
}

int count_nines(const unsigned char *bytes, int length)
{
    return nines_of(bytes, length, 0) + nines_of(bytes, length, 9);
}

// Whichever round of a loop calls it, a constant is the same.
static int nines_or_ones_of(const unsigned char *bytes, int length, unsigned char wanted)
{
    int count = 0;
    for (; length > 2; bytes += 3, length -= 3) {
        unsigned char kind = *bytes;
        if (wanted == 25) {
            if (kind != 1)
                return -1;
        } else if (wanted != 0 && kind != wanted) {
            return -1;
        }
        if (kind == 9 && wanted != 0) {
            unsigned char *last = malloc(2);
            *last = bytes[1]; //~ note null/unchecked-result
            free(last);
        }
        count++;
    }
    return count;
}

int count_ones(const unsigned char *const *records, const int *lengths, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += nines_or_ones_of(records[i], lengths[i], 25) + nines_or_ones_of(records[i], lengths[i], 0);
    return count;
}

// A number that the loop counts is not.
static int counted_of(const unsigned char *bytes, int length, unsigned char wanted)
{
    int count = 0;
    for (; length > 2; bytes += 3, length -= 3) {
        unsigned char kind = *bytes;
        if (wanted != 0 && kind != wanted)
            return -1;
        if (kind == 9 && wanted != 0) {
            unsigned char *last = malloc(2);
            *last = bytes[1]; //~ null/unchecked-result
            free(last);
        }
        count++;
    }
    return count;
}

int count_each(const unsigned char *bytes, int length)
{
    int count = 0;
    for (int i = 0; i < 12; i++)
        count += counted_of(bytes, length, i);
    return count;
}
