// Files by number: closed again, used when closed, lost; and what other functions do with the number.
typedef __SIZE_TYPE__ size_t;
typedef struct file FILE;
int open(const char *name, int flags, ...);
int close(int number);
long read(int number, void *bytes, size_t size);
long write(int number, const void *bytes, size_t size);
int dup(int number);
int dup2(int from, int to);
int pipe(int *numbers);
int socket(int domain, int type, int protocol);
int accept(int socket, void *address, unsigned *size);
FILE *fdopen(int number, const char *mode);
int fclose(FILE *file);
int printf(const char *format, ...);
void register_number(int number);
int interrupted(void);

int left_open(const char *name)
{
    char byte;
    int number = open(name, 0); //~ certain file/leak
    if (number < 0)
        return -1;
    if (read(number, &byte, 1) != 1)
        return -2;
    close(number);
    return byte;
}

int closed_on_all_ways(const char *name) //~ clean
{
    char byte;
    int number = open(name, 0);
    if (number == -1)
        return -1;
    if (read(number, &byte, 1) != 1) {
        close(number);
        return -2;
    }
    close(number);
    return byte;
}

// The number is above the standard streams', or it is none.
int closed_if_positive(const char *name) //~ clean
{
    int number = open(name, 0);
    printf("%d\n", number);
    if (number > 0)
        close(number);
    return 0;
}

void closed_twice(const char *name, int busy)
{
    int number = open(name, 0);
    if (number < 0)
        return;
    if (busy)
        close(number);
    close(number); //~ certain file/double-close
}

// No file has the number -1.
void closed_and_set(const char *name) //~ clean
{
    int number = open(name, 0);
    if (number != -1) {
        close(number);
        number = -1;
    }
    close(number);
}

long read_when_closed(int number)
{
    char byte;
    close(number);
    return read(number, &byte, 1); //~ certain file/use-after-close
}

long closed_when_read(int number) //~ clean
{
    char byte;
    long size = read(number, &byte, 1);
    close(number);
    return size;
}

// A constant is given out again and again.
void streams_opened_anew(void) //~ clean
{
    close(0);
    open("/dev/null", 0);
    close(0);
}

int half_of_a_pipe_left(void)
{
    int ends[2];
    if (pipe(ends) < 0) //~ certain file/leak
        return -1;
    close(ends[0]);
    return 0;
}

int pipe_closed(void) //~ clean
{
    int ends[2];
    if (pipe(ends) < 0)
        return -1;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

// A copy is another file.
int copy_left(int number)
{
    int copy = dup(number); //~ certain file/leak
    if (copy < 0)
        return -1;
    close(number);
    return 0;
}

// What fdopen makes a stream of is the stream's.
int made_a_stream(const char *name) //~ clean
{
    FILE *file;
    int number = open(name, 0);
    if (number < 0)
        return -1;
    file = fdopen(number, "r");
    if (!file) {
        close(number);
        return -1;
    }
    fclose(file);
    return 0;
}

int made_no_stream(const char *name)
{
    FILE *file;
    int number = open(name, 0); //~ certain file/leak
    if (number < 0)
        return -1;
    file = fdopen(number, "r");
    if (!file)
        return -1;
    fclose(file);
    return 0;
}

// dup2 closes what had the number, and opens it.
void replaced(int number, int other) //~ clean
{
    close(number);
    if (dup2(other, number) < 0)
        return;
    write(number, "a", 1);
    close(number);
}

// Where the number goes.
struct server {
    int socket;
    int timer;
    char *name;
};

static int last;
static char used[64];

int returned(const char *name) //~ clean
{
    return open(name, 0);
}

void kept_in_global(const char *name) //~ clean
{
    last = open(name, 0);
}

void kept_in_record(struct server *s) //~ clean
{
    s->socket = socket(1, 1, 0);
}

void kept_as_index(const char *name) //~ clean
{
    int number = open(name, 0);
    if (number >= 0)
        used[number] = 1;
}

void handed_on(const char *name) //~ clean
{
    int number = open(name, 0);
    if (number >= 0)
        register_number(number);
}

long made_a_pointer(const char *name) //~ clean
{
    int number = open(name, 0);
    return number < 0 ? 0 : (long)number;
}

// That it was opened tells nobody its number.
int told_success(const char *name)
{
    int number = open(name, 0); //~ certain file/leak
    return number < 0 ? -1 : 0;
}

// Functions of the program's own.
static int open_or_tell(const char *name)
{
    int number = open(name, 0);
    if (number < 0) {
        printf("%s\n", name);
        return -1;
    }
    return number;
}

static int open_into(const char *name, int *number)
{
    *number = open(name, 0);
    return *number < 0 ? -1 : 0;
}

static void close_number(int *number)
{
    if (*number >= 0)
        close(*number);
    *number = -1;
}

// It is tried again if it was interrupted.
static int open_patiently(const char *name)
{
    int number;
    do
        number = open(name, 0);
    while (number == -1 && interrupted());
    return number;
}

static long fill(int number, char *to)
{
    return read(number, to, 1);
}

static int start(struct server *s)
{
    s->timer = -1;
    s->socket = socket(1, 1, 0);
    if (s->socket < 0)
        return -1;
    return 0;
}

static void stop(struct server *s)
{
    close(s->socket);
    if (s->timer != -1)
        close(s->timer);
}

int wrapped_and_lost(const char *name)
{
    char byte;
    int number = open_or_tell(name); //~ certain file/leak
    if (number < 0)
        return -1;
    if (fill(number, &byte) != 1)
        return -1;
    close(number);
    return 0;
}

int waited_for_and_lost(const char *name)
{
    char byte;
    int number = open_patiently(name); //~ certain file/leak
    if (number == -1)
        return -1;
    if (read(number, &byte, 1) != 1)
        return -1;
    close(number);
    return 0;
}

int waited_for_and_closed(const char *name) //~ clean
{
    char byte;
    int number = open_patiently(name);
    if (number == -1)
        return -1;
    read(number, &byte, 1);
    close(number);
    return 0;
}

int wrapped_and_closed(const char *name) //~ clean
{
    char byte;
    int number = open_or_tell(name);
    if (number < 0)
        return -1;
    fill(number, &byte);
    close_number(&number);
    close_number(&number);
    return 0;
}

int left_where_told(const char *name, int busy)
{
    int number;
    if (open_into(name, &number) < 0) //~ certain file/leak
        return -1;
    if (busy)
        return -2;
    close(number);
    return 0;
}

int closed_where_told(const char *name) //~ clean
{
    int number;
    if (open_into(name, &number) < 0)
        return -1;
    close_number(&number);
    return 0;
}

long filled_when_closed(const char *name)
{
    char byte;
    int number = open_or_tell(name);
    if (number < 0)
        return -1;
    close(number);
    return fill(number, &byte); //~ certain file/use-after-close
}

void server_stopped_twice(struct server *s)
{
    stop(s);
    close(s->socket); //~ certain file/double-close
}

int server_started_and_stopped(void) //~ clean
{
    struct server s;
    if (start(&s) < 0)
        return -1;
    stop(&s);
    return 0;
}

int server_lost(int busy)
{
    struct server s;
    if (start(&s) < 0) //~ certain file/leak
        return -1;
    if (busy)
        return -2;
    stop(&s);
    return 0;
}

void served(int listening) //~ clean
{
    int number;
    while ((number = accept(listening, 0, 0)) >= 0) {
        write(number, "a", 1);
        close(number);
    }
}

void served_and_lost(int listening, int busy)
{
    int number;
    while ((number = accept(listening, 0, 0)) >= 0) { //~ certain file/leak
        if (busy)
            continue;
        close(number);
    }
}

int fcntl(int number, int command, ...);

int asked_after_it_was_closed(const char *name)
{
    int number = open(name, 0);
    if (number < 0)
        return -1;
    close(number);
    return fcntl(number, 3); //~ certain file/use-after-close
}

int asked_before_it_is_closed(const char *name) //~ clean
{
    int number = open(name, 0), flags;
    if (number < 0)
        return -1;
    flags = fcntl(number, 3);
    close(number);
    return flags;
}

/* A callee that uses the descriptor. */
static int ping(int number)
{
    char answer[4];
    int rounds;

    for (rounds = 0; rounds < 3; rounds++) {
        if (write(number, "ping", 4) != 4)
            return -1;
        if (read(number, answer, 4) != 4)
            return -1;
        if (answer[0] == 'p')
            return 0;
    }
    return -1;
}

int pinged_after_close(const char *path)
{
    int number = open(path, 2), answer;

    if (number < 0)
        return -1;
    answer = ping(number);
    close(number);
    answer = ping(number); //~ certain file/use-after-close
    return answer;
}

int pinged_before_close(const char *path) //~ clean
{
    int number = open(path, 2), answer;

    if (number < 0)
        return -1;
    answer = ping(number);
    close(number);
    return answer;
}

// With a descriptor, `signalfd` changes that one.
int signalfd(int number, const void *set, int flags);
static int signals = -1;

int open_signals(const void *set) //~ clean
{
    signals = signalfd(-1, set, 0);
    return signals < 0;
}

int change_signals(const void *set) //~ clean
{
    int result = signals < 0 ? 0 : signalfd(signals, set, 0);

    return result < 0;
}

int lose_signals(const void *set)
{
    int number = signalfd(-1, set, 0); //~ file/leak

    return number < 0;
}
