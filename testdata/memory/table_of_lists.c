// A table of lists: each element is in the list that a number says which is not known. The lists are freed one after the other, and
// only the first of them are looked at one by one.
#include <stdlib.h>
#include <string.h>

#define LISTS 1024

struct element {
    struct element *next;
    int number;
};

extern unsigned hash_of(int number);

int count_different(const int *numbers, int count)
{
    struct element **lists = calloc(LISTS, sizeof *lists);
    int i, different = 0;
    if (!lists)
        return -1;
    for (i = 0; i != count; i++) {
        unsigned at = hash_of(numbers[i]) & (LISTS - 1);
        struct element *element = malloc(sizeof *element); //~ note heap/leak
        if (!element)
            break;
        element->number = numbers[i];
        element->next = lists[at];
        lists[at] = element;
        different++;
    }
    for (i = 0; i != LISTS; i++) {
        struct element *element, *next;
        for (element = lists[i]; element; element = next) {
            next = element->next;
            free(element);
        }
    }
    free(lists);
    return different;
}

int count_and_lose(const int *numbers, int count)
{
    struct element **lists = calloc(LISTS, sizeof *lists);
    int i, different = 0;
    if (!lists)
        return -1;
    for (i = 0; i != count; i++) {
        unsigned at = hash_of(numbers[i]) & (LISTS - 1);
        struct element *element = malloc(sizeof *element); //~ heap/leak
        if (!element)
            break;
        element->number = numbers[i];
        element->next = lists[at];
        lists[at] = element;
        different++;
    }
    free(lists);
    return different;
}

int lose_on_a_way(const int *numbers, int count)
{
    struct element **lists = calloc(LISTS, sizeof *lists);
    int i, different = 0;
    if (!lists)
        return -1;
    for (i = 0; i != count; i++) {
        unsigned at = hash_of(numbers[i]) & (LISTS - 1);
        struct element *element = malloc(sizeof *element); //~ heap/leak
        if (!element)
            break;
        element->number = numbers[i];
        element->next = lists[at];
        lists[at] = element;
        different++;
    }
    if (different == 1) {
        free(lists);
        return 1;
    }
    for (i = 0; i != LISTS; i++) {
        struct element *element, *next;
        for (element = lists[i]; element; element = next) {
            next = element->next;
            free(element);
        }
    }
    free(lists);
    return different;
}

extern int next_free(void);

int in_a_block(int count)
{
    char **names = calloc(count, sizeof *names);
    int i;
    if (!names)
        return -1;
    names[next_free()] = malloc(10); //~ note heap/leak
    for (i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return 0;
}

void in_a_variable(int count)
{
    char *names[64] = {0};
    int i;
    for (i = 0; i < count; i++)
        names[next_free()] = malloc(10); //~ known-false-positive heap/leak
    for (i = 0; i < 64; i++)
        free(names[i]);
}

void in_a_variable_and_lost(int count)
{
    char *names[64] = {0};
    int i;
    for (i = 0; i < count; i++)
        names[next_free()] = malloc(10); //~ heap/leak
}

struct group {
    char *name;
    struct element *first;
};

void not_in_the_list(struct group *with)
{
    struct group *group = calloc(1, sizeof *group);
    struct element *element, *next;
    if (!group)
        return;
    group->name = malloc(10); //~ heap/leak
    group->first = with->first;
    for (element = group->first; element; element = next) {
        next = element->next;
        free(element);
    }
    free(group);
}
