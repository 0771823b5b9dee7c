// SQLite: connections, statements, memory.
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
int sqlite3_open(const char *name, sqlite3 **db);
int sqlite3_close(sqlite3 *db);
int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int size, sqlite3_stmt **statement, const char **rest);
int sqlite3_step(sqlite3_stmt *statement);
int sqlite3_finalize(sqlite3_stmt *statement);
int sqlite3_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **), void *data, char **message);
char *sqlite3_mprintf(const char *format, ...);
void sqlite3_free(void *block);

// It is to be closed even where it could not be opened.
int not_closed_on_failure(const char *name)
{
    sqlite3 *db;
    if (sqlite3_open(name, &db) != 0) //~ certain file/leak
        return -1;
    sqlite3_close(db);
    return 0;
}

int closed_on_failure(const char *name) //~ clean
{
    sqlite3 *db;
    int result = sqlite3_open(name, &db);
    sqlite3_close(db);
    return result;
}

int statement_lost(sqlite3 *db)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, "select 1", -1, &statement, 0) != 0) //~ certain heap/leak
        return -1;
    if (sqlite3_step(statement) != 100)
        return -2;
    sqlite3_finalize(statement);
    return 0;
}

int statement_finalized(sqlite3 *db) //~ clean
{
    sqlite3_stmt *statement = 0;
    int result = sqlite3_prepare_v2(db, "select 1", -1, &statement, 0);
    if (result == 0)
        result = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return result;
}

int stepped_when_gone(sqlite3 *db)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, "select 1", -1, &statement, 0) != 0)
        return -1;
    sqlite3_finalize(statement);
    return sqlite3_step(statement); //~ certain heap/use-after-free
}

int text_lost(sqlite3 *db)
{
    char *sql = sqlite3_mprintf("select %d", 1); //~ certain heap/leak
    return sqlite3_exec(db, sql, 0, 0, 0);
}

int message_freed(sqlite3 *db) //~ clean
{
    char *message = 0;
    int result = sqlite3_exec(db, "select 1", 0, 0, &message);
    if (message)
        sqlite3_free(message);
    return result;
}
