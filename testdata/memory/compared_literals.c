// Two string literals compare in one way only: what is done if they compared otherwise is not done.

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct page {
    const char *type;
};

extern struct page *load_text(void);
extern int failing(void);

static struct page *load_image(int fails)
{
    return fails ? NULL : calloc(1, sizeof(struct page));
}

struct page *load(void) //~ clean
{
    struct page *page;
    const char *type = "text/plain";
    if (strcasecmp(type, "TEXT/plain") == 0)
        page = load_text();
    else {
        page = load_image(failing());
        page->type = "text/html";
    }
    if (!strncmp(type, "image/", 6)) {
        page = load_image(failing());
        page->type = type;
    }
    return page;
}

struct page *load_other(void)
{
    struct page *page;
    const char *type = "image/png";
    if (strncasecmp(type, "IMAGE/", 6) == 0 && strcmp(type, "image/gif") > 0) {
        page = load_image(failing());
        page->type = type; //~ null/unchecked-result
    } else
        page = load_text();
    return page;
}
