// What a function returns tells what it has found in its arguments, be the value of its result too much to be told to callers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum handled { GO_ON, FINISHED, WAIT };
enum field { REALM, NONCE, URI, RESPONSE, USER, USER_STAR, FIELDS };

struct request {
    int status, fds[4];
    char *scratch;
    size_t used;
};

struct params {
    char *ptr[FIELDS];
    size_t length[FIELDS];
};

enum handled decode_user(struct request *r, const char *encoded, char *into);
int log_failed(struct request *r, const char *what);

static enum handled send_error(struct request *r)
{
    if (log_failed(r, "missing") < 0)
        r->used = 0;
    r->status = 400;
    return FINISHED;
}

static enum handled validate(struct request *r, struct params *p, char *user)
{
    if ((p->ptr[USER] != NULL) != (p->ptr[USER_STAR] != NULL) && p->ptr[REALM] && p->ptr[NONCE] && p->ptr[URI]
        && p->ptr[RESPONSE]) {
        size_t i;
        for (i = 0; i < p->length[USER] && i < 63; i++)
            user[i] = p->ptr[USER] ? p->ptr[USER][i] : 'u';
        user[i] = 0;
        if (!p->ptr[USER]) {
            enum handled decoded = decode_user(r, p->ptr[USER_STAR], user);
            if (decoded != GO_ON)
                return decoded;
        }
    } else {
        log_failed(r, "digest");
        return send_error(r);
    }
    return GO_ON;
}

// Some of the parameters are null where nothing was found.
static void parse(struct params *p, const char *text)
{
    memset(p, 0, sizeof(*p));
    for (; *text; text++)
        switch (*text) {
        case 'r':
            p->ptr[REALM] = strdup(text);
            break;
        case 'n':
            p->ptr[NONCE] = strchr(text, '=');
            break;
        case 'u':
            p->ptr[USER] = strchr(text, '=');
            break;
        }
}

enum handled authorise(struct request *r, struct params *p) //~ clean
{
    char user[64];
    enum handled handled = validate(r, p, user);
    if (handled != GO_ON)
        return handled;
    if (!p->ptr[NONCE])
        puts("no nonce");
    return *p->ptr[NONCE] == '0' ? WAIT : GO_ON;
}

enum handled authorise_any(struct request *r, struct params *p)
{
    char user[64];
    enum handled handled = validate(r, p, user);
    if (handled == GO_ON)
        puts(user);
    if (!p->ptr[NONCE])
        puts("no nonce");
    return *p->ptr[NONCE] == '0' ? WAIT : GO_ON; //~ null/dereference
}
