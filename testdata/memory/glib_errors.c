// A function of GLib's leaves an error exactly where its result is null or FALSE.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct _GKeyFile GKeyFile;
typedef struct { int code; char *message; } GError;
typedef int gboolean;
char *g_key_file_get_string(GKeyFile *, const char *, const char *, GError **);
gboolean g_file_get_contents(const char *, char **, size_t *, GError **);
void g_clear_error(GError **);
void g_error_free(GError *);
void g_free(void *);

int privacy(GKeyFile *config) //~ clean
{
    GError *error = NULL;
    int is_on;
    char *text = g_key_file_get_string(config, "General", "Privacy", &error);
    if (error) {
        puts(error->message);
        g_clear_error(&error);
        return 0;
    }
    is_on = !strcmp(text, "on");
    g_free(text);
    return is_on;
}

int privacy_left(GKeyFile *config)
{
    GError *error = NULL;
    char *text = g_key_file_get_string(config, "General", "Privacy", &error); //~ heap/leak
    if (error) {
        g_error_free(error);
        return 0;
    }
    return !strcmp(text, "on");
}

size_t length_of(const char *name) //~ clean
{
    GError *error = NULL;
    char *contents;
    size_t length;
    g_file_get_contents(name, &contents, &length, &error);
    if (error != NULL) {
        fprintf(stderr, "%s\n", error->message);
        g_error_free(error);
        return 0;
    }
    g_free(contents);
    return length;
}
