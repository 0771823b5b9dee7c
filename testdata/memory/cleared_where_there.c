// What a function stores through a pointer is what the record has in it afterwards: where the pointer is null there is no record, and nothing of it
// "stays as it was".
#include <stdlib.h>
#include <string.h>

struct address {
    char *scheme;
    char *host;
    char *user;
};

static int parse_user(struct address *a, const char **text)
{
    const char *at = *text;
    while ((*at >= 'a' && *at <= 'z') || *at == '%') {
        if (*at == '%')
            at += 3;
        else
            at++;
    }
    if (*at != '@')
        return 1;
    if (a != NULL) {
        if (a->user != NULL)
            free(a->user);
        a->user = strndup(*text, at - *text);
    }
    *text = at;
    return 0;
}

static int parse_host(struct address *a, const char **text)
{
    const char *at = *text;
    if (*at == '[') {
        at++;
        while (*at != ']' && *at != 0)
            at++;
        if (*at != ']')
            return 1;
        at++;
    }
    if (a != NULL) {
        if (a->scheme != NULL)
            free(a->scheme);
        a->scheme = NULL;
        if (a->host != NULL)
            free(a->host);
        if (at != *text)
            a->host = strndup(*text, at - *text);
        else
            a->host = NULL;
    }
    *text = at;
    return 0;
}

static int parse_both(struct address *a, const char **text)
{
    const char *at = *text;
    int ret = parse_user(a, &at);
    if (ret != 0 || *at != '@')
        at = *text;
    else
        at++;
    ret = parse_host(a, &at);
    if (ret != 0)
        return ret;
    *text = at;
    return 0;
}

static void clear_address(struct address *a)
{
    if (a == NULL)
        return;
    if (a->scheme != NULL)
        free(a->scheme);
    a->scheme = NULL;
    if (a->host != NULL)
        free(a->host);
    a->host = NULL;
    if (a->user != NULL)
        free(a->user);
    a->user = NULL;
}

// The host is freed, and still known.
static void half_clear_address(struct address *a)
{
    if (a == NULL)
        return;
    if (a->scheme != NULL)
        free(a->scheme);
    a->scheme = NULL;
    if (a->host != NULL)
        free(a->host);
}

static int parse_absolute(struct address *a, const char *text)
{
    int ret;
    if (*text != ':')
        return 1;
    text++;
    if (*text == '/' && text[1] == '/') {
        text += 2;
        ret = parse_both(a, &text);
        if (ret != 0)
            return ret;
    }
    if (*text != 0) {
        clear_address(a);
        return 1;
    }
    return 0;
}

static int parse_relative(struct address *a, const char *text)
{
    int ret;
    if (*text == '/' && text[1] == '/') {
        text += 2;
        ret = parse_both(a, &text);
        if (ret != 0)
            return ret;
    }
    if (*text != 0) {
        clear_address(a);
        return 1;
    }
    return 0;
}

int parse_either(struct address *a, const char *text) //~ clean
{
    int ret;
    if (text == NULL)
        return -1;
    clear_address(a);
    ret = parse_absolute(a, text);
    if (ret) {
        clear_address(a);
        ret = parse_relative(a, text);
        if (ret) {
            clear_address(a);
            return ret;
        }
    }
    return 0;
}

int clear_twice(struct address *a)
{
    half_clear_address(a);
    clear_address(a); //~ heap/double-free
    return 0;
}
