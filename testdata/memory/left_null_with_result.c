// What a function leaves in memory is null only where its result says that it has failed: a callee has followed it otherwise.

#include <stdlib.h>

struct cell {
    int length, value;
};

struct code {
    int symbols;
    struct cell *table;
};

static int fill(const struct code *code, struct cell *table)
{
    if (code->symbols < 0)
        return -1;
    table[0].length = 1;
    return 0;
}

static int make_table(struct code *code)
{
    code->table = calloc(16, sizeof(*code->table));
    return fill(code, code->table); //~ null/unchecked-result
}

int next_symbol(struct code *code, unsigned bits)
{
    if (!code->table && make_table(code) != 0)
        return -1;
    return code->table[bits & 15].length;
}

static int make_plain_table(struct code *code)
{
    code->table = calloc(16, sizeof(*code->table));
    return code->symbols < 0 ? -1 : 0;
}

int next_plain_symbol(struct code *code, unsigned bits)
{
    if (!code->table && make_plain_table(code) != 0)
        return -1;
    return code->table[bits & 15].length; //~ null/unchecked-result
}
