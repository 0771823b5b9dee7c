// What the environment answers: a store does not change it, `setenv` does.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void send(char *page, const char *where);

static size_t copy(char *to, const char *from, size_t size)
{
    size_t i;
    for (i = 0; i + 1 < size && from[i]; i++)
        to[i] = from[i];
    to[i] = 0;
    return i;
}

int back(char *page) //~ clean
{
    if (getenv("HTTP_REFERER")) {
        char url[64];
        copy(url, "5;URL=", sizeof(url));
        page[0] = 'u';
        return (int)strlen(getenv("HTTP_REFERER")) + url[0];
    }
    return 0;
}

int back_home(char *page)
{
    if (getenv("HTTP_REFERER")) {
        unsetenv("HTTP_REFERER");
        page[0] = 'u';
        return (int)strlen(getenv("HTTP_REFERER")); //~ null/unchecked-result
    }
    return 0;
}

static void forget(void)
{
    unsetenv("HTTP_REFERER");
}

int back_forgotten(char *page)
{
    if (getenv("HTTP_REFERER")) {
        forget();
        return (int)strlen(getenv("HTTP_REFERER")); //~ null/unchecked-result
    }
    return 0;
}

int back_later(char *page) //~ clean
{
    const char *last = strrchr(page, '/');
    if (!last)
        return 0;
    return (int)strlen(strrchr(page, '/'));
}

int back_changed(char *page, char *at)
{
    if (!strrchr(page, '/'))
        return 0;
    *at = 'x';
    return (int)strlen(strrchr(page, '/')); //~ note null/dereference
}
