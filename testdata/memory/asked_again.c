// A library function that is asked twice in a row gives the same answer.
char *getenv(const char *name);
char *strchr(const char *text, int character);
char *strcpy(char *to, const char *from);
int atoi(const char *text);
int unsetenv(const char *name);
int puts(const char *text);

int port(void) //~ clean
{
    if (getenv("PORT"))
        return atoi(getenv("PORT"));
    return 80;
}

int port_of_another_name(void)
{
    if (getenv("PORT"))
        return atoi(getenv("PROT")); //~ null/unchecked-result
    return 80;
}

int port_unchecked(void)
{
    return atoi(getenv("PORT")); //~ null/unchecked-result
}

// A local variable that is assigned in between changes nothing.
int listens(int self) //~ clean
{
    int given = 0;

    if (getenv("LISTEN_PID") && atoi(getenv("LISTEN_PID")) == self) {
        given = 3;
        given += atoi(getenv("LISTEN_PID"));
    }
    return given;
}

void cut(char *line) //~ clean
{
    if (strchr(line, '\n'))
        *strchr(line, '\n') = 0;
}

// What is written in between may be what was found.
void cut_twice(char *line)
{
    if (strchr(line, '\n')) {
        *strchr(line, '\n') = 0;
        *strchr(line, '\n') = ' '; //~ note null/dereference
    }
}

// What is said meanwhile changes nothing.
int port_with_a_word(void) //~ clean
{
    if (!getenv("PORT"))
        return 80;
    puts("another port");
    return atoi(getenv("PORT"));
}

// So may what another function writes.
int port_after_a_change(void)
{
    if (getenv("PORT")) {
        unsetenv("PORT");
        return atoi(getenv("PORT")); //~ null/unchecked-result
    }
    return 0;
}
