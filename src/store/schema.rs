//! The database's tables and their version.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::{DATABASE, StoreError, refuse_links};

/// Raised whenever a table changes; 0 is SQLite's for a file without tables.
pub const VERSION: i64 = 10;

/// Tables. `functions`, `calls`, `units`, `losses` and `duplicates` are the program of the last run;
/// `results` are keyed by all that they depend on, so they outlive edits of the tree.
const TABLES: &str = "
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE results (
        key BLOB PRIMARY KEY,
        outcome TEXT NOT NULL,      -- analysed, out of budget, failed, seeded
        reason TEXT,
        identity BLOB NOT NULL,     -- hash of the summary
        active INTEGER NOT NULL,    -- a call moves an object of some machine
        findings BLOB NOT NULL,     -- postcard
        custody BLOB NOT NULL,      -- postcard
        nesting BLOB NOT NULL,      -- postcard
        blocks INTEGER NOT NULL, terms INTEGER NOT NULL,
        queries INTEGER NOT NULL, solver_calls INTEGER NOT NULL
    );
    CREATE TABLE summaries (
        key BLOB PRIMARY KEY,       -- as in results
        summary BLOB NOT NULL       -- postcard
    );
    CREATE TABLE units (
        source TEXT NOT NULL, declarations INTEGER NOT NULL,
        function_definitions INTEGER NOT NULL, bytes INTEGER NOT NULL
    );
    CREATE TABLE fingerprints (
        functions BLOB NOT NULL     -- for each function, 16 bytes that tell whether its rows are the same
    );
    CREATE TABLE functions (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        scope TEXT,                 -- the file of a static function
        file TEXT NOT NULL, line INTEGER NOT NULL,
        own INTEGER NOT NULL,       -- defined in one of the tree's own files
        body BLOB,                  -- key in the body cache
        outcome TEXT,               -- NULL: the run was stopped before it
        reason TEXT,
        result BLOB                 -- key in results
    );
    CREATE INDEX functions_by_name ON functions (name);
    CREATE TABLE calls (
        caller INTEGER NOT NULL, name TEXT NOT NULL, scope TEXT,
        callee INTEGER              -- NULL: not defined in the tree
    );
    CREATE INDEX calls_by_caller ON calls (caller);
    CREATE INDEX calls_by_name ON calls (name);
    CREATE TABLE losses (
        file TEXT NOT NULL, line INTEGER NOT NULL, name TEXT,
        stage TEXT NOT NULL, message TEXT NOT NULL
    );
    CREATE TABLE duplicates (name TEXT NOT NULL, place TEXT NOT NULL);
    CREATE TABLE findings (
        fingerprint TEXT NOT NULL, rule TEXT NOT NULL, level TEXT NOT NULL,
        message TEXT NOT NULL, file TEXT NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL,
        function TEXT NOT NULL, object TEXT NOT NULL, specification TEXT,
        trace TEXT NOT NULL         -- JSON
    );
";

/// Makes the tables of a new database.
pub fn create(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE; {TABLES} {} PRAGMA user_version = {VERSION}; COMMIT;",
        super::manifests::TABLES
    ))
}

/// The version of the database file, 0 for one without tables.
fn version(folder: &Path) -> Result<i64, StoreError> {
    let file = folder.join(DATABASE);
    let read = || -> Result<i64, rusqlite::Error> {
        Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_WRITE)?.query_row(
            "PRAGMA user_version",
            [],
            |row| row.get(0),
        )
    };
    read().map_err(|error| StoreError::Damaged {
        file: file.clone(),
        error: error.to_string(),
    })
}

/// Whether `folder` has a database that this version can read.
pub fn check(folder: &Path) -> Result<(), StoreError> {
    refuse_links(folder, true)?;
    if !folder.join(DATABASE).is_file() {
        return Err(StoreError::Missing(folder.to_owned()));
    }
    match version(folder)? {
        VERSION => Ok(()),
        0 => Err(StoreError::Missing(folder.to_owned())),
        found => Err(StoreError::Version {
            folder: folder.to_owned(),
            found,
            expected: VERSION,
            advice: "run `cassini check` again with this version to make a new one",
        }),
    }
}

/// Moves an older version's database out of the way and says so. A newer version's is an error: this
/// version cannot tell what would be lost.
pub fn move_aside_if_older(folder: &Path) -> Result<Option<String>, StoreError> {
    let file = folder.join(DATABASE);
    if !file.is_file() {
        return Ok(None);
    }
    let found = version(folder)?;
    if found > VERSION {
        return Err(StoreError::Version {
            folder: folder.to_owned(),
            found,
            expected: VERSION,
            advice: "use that version, or give this one its own database with --db DIR",
        });
    }
    if found == VERSION || found == 0 {
        return Ok(None);
    }
    let aside = folder.join(format!("{DATABASE}.format-{found}"));
    for suffix in ["", "-wal", "-shm"] {
        let from = folder.join(format!("{DATABASE}{suffix}"));
        if from.exists() {
            fs::rename(from, format!("{}{suffix}", aside.display())).map_err(|error| {
                StoreError::NotWritable {
                    folder: folder.to_owned(),
                    error,
                }
            })?;
        }
    }
    Ok(Some(format!(
        "the database was written by an older version of cassini (format {found}); it was moved to \
         {} and everything is analysed anew",
        aside.display()
    )))
}
