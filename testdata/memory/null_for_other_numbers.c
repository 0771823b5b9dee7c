// A function returns null for numbers of which a caller has asked one: that it was not null there follows from what was passed.

#include <stddef.h>

struct key {
    const char *name;
    int code;
};

extern const struct key keys0[], keys1[], keys2[], keys3[], keys4[], keys5[], keys6[], keys7[], keys8[];
extern int menu;

const struct key *keys_of(int menu)
{
    switch (menu) {
    case 0: return keys0;
    case 1: return keys1;
    case 2: return keys2;
    case 3: return keys3;
    case 4: return keys4;
    case 5: return keys5;
    case 6: return keys6;
    case 7: return keys7;
    case 8: return keys8;
    }
    return NULL;
}

static int code(const struct key *key)
{
    return key->code;
}

int first_code(void) //~ clean
{
    const struct key *key = keys_of(menu);
    if (key == NULL && menu != 8)
        key = keys0;
    return code(key);
}

int first_code_of_others(void)
{
    const struct key *key = keys_of(menu);
    if (key == NULL && menu != 9)
        key = keys0;
    return code(key); //~ null/dereference
}
