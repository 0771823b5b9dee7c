// bad1: 775 file/leak the socket stays open when it cannot be connected
// bad2: 401 heap/leak the connection is not freed when there is no socket
// bad3: 404 file/leak the connection is freed and its socket forgotten
// bad4: 416 heap/use-after-free the name of the connection is reported after it was freed
// bad5: 476 null/dereference the connection that was not made is closed
// ---- header
struct connection {
    int socket;
    unsigned sent;
    char *name;
};
struct connection *bad_open(const char *name);
struct connection *good_open(const char *name);
void bad_close(struct connection *connection);
void good_close(struct connection *connection);
// ---- b
struct connection *@_open(const char *name)
{
    struct connection *connection = calloc(1, sizeof *connection);

    if (!connection)
        return NULL;
    connection->name = strdup(name);
    if (!connection->name)
        goto fail;
    connection->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (connection->socket < 0 || suite_either()) {
        if (connection->socket >= 0)
            close(connection->socket);
        return NULL; // bad2
        goto fail_name; // not bad2
    }
    if (listen(connection->socket, 3) < 0)
        goto fail_name; // bad1
        goto fail_socket; // not bad1
    return connection;

fail_socket: // not bad1
    close(connection->socket); // not bad1
fail_name:
    free(connection->name);
fail:
    free(connection);
    return NULL;
}

void @_close(struct connection *connection)
{
    close(connection->socket); // not bad3
    free(connection->name);
    free(connection);
    printf("closed %s\n", connection->name); // bad4
}
// ---- a
void @(void)
{
    struct connection *connection = @_open("upstream");

    if (connection) // not bad5
        printf("%u sent\n", connection->sent); // not bad5
    else // not bad5
        return; // not bad5
    @_close(connection);
}
