// A callee makes a block and leaves the pointer to it in more than one place: it is found by any of them.
#include <stdio.h>
#include <stdlib.h>

struct mode {
    int operation, bits, mask;
    char x;
    struct mode *next;
};

// Adds to a list of which `cur` is the last element. Where that is, a caller does not see in all cases: too much is read on the way.
static int add_modes(char *arg, struct mode **head, struct mode **cur)
{
    int bits, mask = 0, op;
    char x;

    if (arg[0] != 'u' && arg[0] != 'g' && arg[0] != 'o' && arg[0] != 'a') {
        mask = 0777;
        goto operation;
    }
    while (1) {
        switch (*arg) {
        case 'u':
            mask |= 04700;
            break;
        case 'g':
            mask |= 02070;
            break;
        case 'o':
            mask |= 01007;
            break;
        case 'a':
            mask = 07777;
            break;
        default:
            goto operation;
        }
        arg++;
    }
operation:
    if (*arg == '\0') {
        printf("no operation\n");
        return 0;
    }
    while (*arg != '\0') {
        bits = 0;
        x = 0;
        switch (*arg) {
        case '+':
            op = 1;
            break;
        case '-':
            op = 2;
            break;
        default:
            printf("no such operation: %c\n", *arg);
            return 0;
        }
        arg++;
        while (1) {
            switch (*arg) {
            case 'r':
                bits |= 0444;
                break;
            case 'w':
                bits |= 0222;
                break;
            case 'X':
                x = 1;
                break;
            case '+':
            case '-':
            case '\0':
                bits &= mask;
                goto parsed;
            default:
                return 0;
            }
            arg++;
        }
parsed:;
        struct mode *made = malloc(sizeof *made);
        if (made == NULL)
            exit(1);
        made->operation = op;
        made->bits = bits;
        made->mask = mask;
        made->x = x;
        made->next = NULL;
        if (*cur) {
            (*cur)->next = made;
            *cur = made;
        } else
            *head = *cur = made;
    }
    return 1;
}

int all_modes(int count, char **args, void **data) //~ clean
{
    int i, added = 1;
    struct mode *head = NULL, *cur = NULL;
    for (i = 0; i < count && added; i++)
        added = add_modes(args[i], &head, &cur);
    *data = head;
    return added;
}

static int make_mode(const char *arg, struct mode **made)
{
    if (*arg == 'u' && arg[1] == '+')
        *made = malloc(sizeof **made);
    return *made != NULL;
}

// Here it is left in one place.
int first_mode(const char *arg)
{
    struct mode *made = NULL;
    if (!make_mode(arg, &made)) //~ heap/leak
        return -1;
    return made->operation = 1;
}
