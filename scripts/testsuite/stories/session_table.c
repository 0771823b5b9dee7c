// bad1: 667 lock/inconsistent-exit the table stays locked when there is no memory
// bad2: 401 heap/leak the session is not freed when its number is taken
// bad3: 416 heap/use-after-free the session is returned after it was freed
// bad4: 690 null/unchecked-result the session that was looked up is used unchecked
// bad5: 764 lock/double-lock the function that locks is called with the lock held
// ---- header
struct session {
    int number;
    char user[16];
};
struct session *bad_lookup(int number);
struct session *good_lookup(int number);
int bad_open_session(int number, const char *user);
int good_open_session(int number, const char *user);
void bad_close_session(int number);
void good_close_session(int number);
// ---- b
static pthread_mutex_t @_lock = PTHREAD_MUTEX_INITIALIZER;
static struct session *@_sessions[16];

struct session *@_lookup(int number)
{
    struct session *session;

    pthread_mutex_lock(&@_lock);
    session = @_sessions[number & 15];
    pthread_mutex_unlock(&@_lock);
    return session;
}

int @_open_session(int number, const char *user)
{
    struct session *session;

    pthread_mutex_lock(&@_lock);
    session = malloc(sizeof(*session));
    if (session == NULL) {
        pthread_mutex_unlock(&@_lock); // not bad1
        return -ENOMEM;
    }
    if (@_lookup(number) != NULL) { // bad5
    if (@_sessions[number & 15] != NULL) { // not bad5
        free(session); // not bad2
        pthread_mutex_unlock(&@_lock);
        return -EBUSY;
    }
    session->number = number;
    snprintf(session->user, sizeof(session->user), "%s", user);
    @_sessions[number & 15] = session;
    pthread_mutex_unlock(&@_lock);
    return 0;
}

void @_close_session(int number)
{
    struct session *session;

    pthread_mutex_lock(&@_lock);
    session = @_sessions[number & 15];
    @_sessions[number & 15] = NULL;
    pthread_mutex_unlock(&@_lock);
    free(session);
    if (session) // bad3
        printf("%s\n", session->user); // bad3
}
// ---- a
void @(void)
{
    struct session *session;

    if (@_open_session(3, "holborn") < 0 || @_open_session(3, "temple") == 0)
        return;
    session = @_lookup(suite_either() ? 3 : 5);
    if (session != NULL) // not bad4
    puts(session->user);
    @_close_session(3);
}
