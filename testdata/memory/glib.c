// GLib: memory that is never short, errors, references.
typedef __SIZE_TYPE__ gsize;
typedef int gboolean;
typedef struct error {
    int code;
    char *message;
} GError;
typedef struct string {
    char *str;
    gsize len;
} GString;
typedef struct dir GDir;
void *g_malloc(gsize size);
void *g_try_malloc(gsize size);
void g_free(void *block);
char *g_strdup(const char *text);
void *g_object_new(gsize type, const char *first, ...);
void *g_object_ref(void *object);
void g_object_unref(void *object);
void g_clear_error(GError **error);
void g_error_free(GError *error);
gboolean load(GError **error);
GString *g_string_new(const char *text);
GString *g_string_append(GString *string, const char *text);
char *g_string_free(GString *string, gboolean bytes);
GDir *g_dir_open(const char *name, unsigned int flags, GError **error);
const char *g_dir_read_name(GDir *dir);
void g_dir_close(GDir *dir);
gboolean g_hash_table_insert(void *table, void *key, void *value);
void *g_hash_table_lookup(void *table, const void *key);
gboolean g_file_get_contents(const char *name, char **contents, gsize *length, GError **error);

struct node {
    int value;
};

int never_short(void) //~ clean
{
    struct node *n = g_malloc(sizeof *n);
    int value;
    n->value = 1;
    value = n->value;
    g_free(n);
    return value;
}

void perhaps_short(void)
{
    struct node *n = g_try_malloc(sizeof *n);
    n->value = 1; //~ certain null/unchecked-result
    g_free(n);
}

void freed_twice(int busy)
{
    char *text = g_strdup("text");
    if (busy)
        g_free(text);
    g_free(text); //~ certain heap/double-free
}

int looked_up_and_lost(void *table)
{
    char *key = g_strdup("key"); //~ certain heap/leak
    return g_hash_table_lookup(table, key) != 0;
}

void put_in(void *table) //~ clean
{
    g_hash_table_insert(table, g_strdup("key"), g_strdup("value"));
}

int object_lost(int busy)
{
    void *object = g_object_new(80, 0); //~ certain heap/leak
    if (busy)
        return -1;
    g_object_unref(object);
    return 0;
}

// A reference that is given back need not be the last one.
int object_in_two_places(void) //~ clean
{
    struct node *n = g_object_new(80, 0);
    g_object_ref(n);
    g_object_unref(n);
    n->value = 1;
    g_object_unref(n);
    return 0;
}

int error_read_when_gone(void)
{
    GError *error = 0;
    if (load(&error))
        return 0;
    g_error_free(error);
    return error->code; //~ certain heap/use-after-free
}

int error_cleared_each_time(void) //~ clean
{
    GError *error = 0;
    if (!load(&error))
        g_clear_error(&error);
    if (!load(&error))
        g_clear_error(&error);
    return error ? error->code : 0;
}

char *bytes_handed_on(void) //~ clean
{
    GString *string = g_string_new("a");
    string = g_string_append(string, "b");
    return g_string_free(string, 0);
}

char *bytes_taken_before(void) //~ clean
{
    GString *string = g_string_new("a");
    char *text = string->str;
    g_string_free(string, 0);
    return text;
}

int string_lost(int busy)
{
    GString *string = g_string_new("a"); //~ certain heap/leak
    g_string_append(string, "b");
    if (busy)
        return -1;
    g_string_free(string, 1);
    return 0;
}

int left_open(const char *name)
{
    GDir *dir = g_dir_open(name, 0, 0); //~ certain file/leak
    if (!dir)
        return -1;
    if (!g_dir_read_name(dir))
        return 0;
    g_dir_close(dir);
    return 1;
}

int contents_lost(const char *name)
{
    char *text;
    if (!g_file_get_contents(name, &text, 0, 0)) //~ certain heap/leak
        return -1;
    return text[0];
}

int contents_freed_in_any_case(const char *name) //~ clean
{
    char *text = 0;
    int result = g_file_get_contents(name, &text, 0, 0);
    g_free(text);
    return result;
}

static gboolean load_name(GError **error)
{
    char *text;
    if (!g_file_get_contents("name", &text, 0, error))
        return 0;
    g_free(text);
    return 1;
}

// Who fails leaves an error.
int told_why(void) //~ clean
{
    GError *error = 0;
    int code;
    if (load_name(&error))
        return 0;
    code = error->code;
    g_error_free(error);
    return code;
}

int contents_freed(const char *name) //~ clean
{
    char *text;
    int first;
    if (!g_file_get_contents(name, &text, 0, 0))
        return -1;
    first = text[0];
    g_free(text);
    return first;
}
