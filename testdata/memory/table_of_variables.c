// A library gets a table with the addresses of variables, and writes to them when it is called again.
int strcmp(const char *one, const char *other);

struct option {
    const char *name;
    int kind;
    void *argument;
    int value;
};

struct parser;
struct parser *make_parser(int count, const char **words, const struct option *table);
int next_option(struct parser *parser);
void set_output(int file);

int parse(int count, const char **words) //~ clean
{
    const char *log = 0;
    const char *state = 0;
    struct option options[] = {
        {"log", 1, &log, 'l'},
        {"state", 1, &state, 's'},
        {0, 0, 0, 0},
    };
    struct parser *parser = make_parser(count, words, options);
    int option = next_option(parser);

    if (option == 'l' && strcmp(log, "syslog") == 0)
        set_output(1);
    return option == 's' ? state[0] : 0;
}

int parse_without_table(int count, const char **words)
{
    const char *log = 0;
    struct option options[] = {
        {"log", 1, 0, 'l'},
        {0, 0, 0, 0},
    };
    struct parser *parser = make_parser(count, words, options);

    if (next_option(parser) == 'l')
        return strcmp(log, "syslog"); //~ null/dereference
    return 0;
}
