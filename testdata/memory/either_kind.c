// A pointer is null for one kind or the other, and callers pass no such kind where it matters: what they have passed decides, though no single
// comparison holds wherever the function fails.

#include <string.h>

struct entry {
    int set;
    const char *name;
};

static int header(struct entry *entry, int kind, const char *name)
{
    const char *text;
    if (kind == 'K' || kind == 'L')
        text = entry->set ? entry->name : NULL;
    else
        text = name ? name : "";
    return (int)strlen(text); //~ note null/dereference
}

int write_entry(struct entry *entry, const char *path)
{
    struct entry long_name = { 1, "root" };
    int size = header(&long_name, 'L', NULL);
    return size + header(entry, '0', path);
}

static int trailer(struct entry *entry, int kind, const char *name)
{
    const char *text;
    if (kind == 'K' || kind == 'L')
        text = entry->set ? entry->name : NULL;
    else
        text = name ? name : "";
    return (int)strlen(text); //~ null/dereference
}

int end_entry(struct entry *entry, const char *path)
{
    struct entry long_name = { 1, "root" };
    int size = trailer(&long_name, 'L', NULL);
    return size + trailer(entry, 'K', path); //~ note null/dereference
}
