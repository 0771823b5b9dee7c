//! The database's tables and their version.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::file::{self, Fault, Secured, Verdict};
use super::seal::{self, Condition};
use super::{DATABASE, Part, StoreError, plain, refuse_links};

/// Raised whenever a table changes; 0 is SQLite's for a file without tables.
pub const VERSION: i64 = 33;

/// Tables. `functions`, `calls`, `units`, `losses` and `ambiguous` are the program of the last run;
/// `results` are keyed by all that they depend on, so they outlive edits of the tree. Further tables, for people: [`super::plain`].
const TABLES: &str = "
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE results (
        key BLOB PRIMARY KEY,
        outcome TEXT NOT NULL,      -- analysed, analysed in part, out of budget, failed, seeded
        reason TEXT,
        identity BLOB NOT NULL,     -- hash of the summary
        active INTEGER NOT NULL,    -- a call moves an object of some machine
        findings BLOB NOT NULL,     -- postcard
        obligations BLOB NOT NULL,      -- postcard
        lock_order BLOB NOT NULL,      -- postcard
        recursion BLOB NOT NULL,    -- postcard; with it, which results of callees are looked at
        blocks INTEGER NOT NULL, terms INTEGER NOT NULL,
        queries INTEGER NOT NULL, solver_calls INTEGER NOT NULL,
        checksum INTEGER NOT NULL   -- of all that
    );
    CREATE TABLE summaries (
        key BLOB PRIMARY KEY,       -- as in results
        summary BLOB NOT NULL       -- postcard, and a hash of it
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
        result BLOB,                -- key in results
        access_outcome TEXT,        -- the same, of the pass that checks accesses to memory, if there was one
        access_reason TEXT,
        access_result BLOB,
        variant INTEGER,            -- NULL: the function calls the same in all programs that it is linked into
        programs TEXT               -- those of the variant, one to a line; NULL: any
    );
    CREATE INDEX functions_by_name ON functions (name, own DESC, file, line);
    CREATE INDEX functions_by_file ON functions (file, line);
    CREATE INDEX functions_by_outcome ON functions (own, outcome);
    CREATE TABLE calls (
        caller INTEGER NOT NULL, name TEXT NOT NULL, scope TEXT,
        callee INTEGER              -- NULL: not defined in the tree
    );
    CREATE INDEX calls_by_caller ON calls (caller, name, scope, callee);
    CREATE INDEX calls_by_name ON calls (name);
    CREATE TABLE losses (
        file TEXT NOT NULL, line INTEGER NOT NULL, name TEXT,
        stage TEXT NOT NULL, message TEXT NOT NULL
    );
    CREATE TABLE ambiguous (        -- several definitions lie as near to a call
        name TEXT NOT NULL, caller TEXT NOT NULL, taken TEXT NOT NULL, others TEXT NOT NULL
    );
    CREATE TABLE findings (
        fingerprint TEXT NOT NULL, rule TEXT NOT NULL, level TEXT NOT NULL,
        message TEXT NOT NULL, file TEXT NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL,
        function TEXT NOT NULL, object TEXT NOT NULL, specification TEXT,
        explanations TEXT NOT NULL,     -- JSON: kind and text
        trace TEXT NOT NULL,        -- JSON
        programs TEXT NOT NULL,     -- JSON; empty: all that the function is linked into
        filter TEXT,                -- the strictest that reports it; NULL: not filtered
        filtered TEXT NOT NULL,     -- JSON: all that report it, and the specification that excludes it
        ignored TEXT                -- the reason of the comment that silences it; NULL: none does
    );
    CREATE TABLE verdicts (         -- what people say of findings, which need not be there any more
        fingerprint TEXT PRIMARY KEY, verdict TEXT NOT NULL,
        rule TEXT NOT NULL, file TEXT NOT NULL, function TEXT NOT NULL, object TEXT NOT NULL,
        note TEXT NOT NULL
    ) WITHOUT ROWID;
";

/// Makes the tables of a new database.
pub fn create(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE; {TABLES} {} {} {} PRAGMA user_version = {VERSION}; COMMIT;",
        super::manifests::TABLES,
        plain::TABLES,
        plain::views("")
    ))
}

/// The version of a database, 0 for one without tables.
pub(super) fn version_of(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Opens the database of `folder` for reading, if it is one that this version can read.
pub(super) fn open_to_read(folder: &Path) -> Result<Connection, StoreError> {
    refuse_links(folder, true)?;
    let file = folder.join(DATABASE);
    if !file.is_file() {
        return Err(StoreError::Missing(folder.to_owned()));
    }
    let damaged = |error: String| {
        let file = file.clone();
        StoreError::Damaged { file, error }
    };
    let condition = seal::examine_to_read(&file).map_err(|error| damaged(error.to_string()))?;
    if condition == Condition::Damaged {
        return Err(damaged("it is not as the last run left it".to_owned()));
    }
    let open = || {
        let connection = file::open(&file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let version = version_of(&connection)?;
        Ok((connection, version))
    };
    let (connection, version) = open().map_err(|error: rusqlite::Error| match error {
        error if file::is_damage(&error) => damaged(error.to_string()),
        error => error.into(),
    })?;
    match version {
        VERSION => Ok(connection),
        0 => Err(StoreError::Missing(folder.to_owned())),
        found => Err(StoreError::Version {
            folder: folder.to_owned(),
            found,
            expected: VERSION,
            advice: "run `cassini check` again with this version to make a new one",
        }),
    }
}

/// Makes sure that the database of `folder` is sound and of this version, or not there. A newer version's
/// is an error: this version cannot tell what would be lost.
pub(super) fn secure(folder: &Path, notices: &mut Vec<String>) -> Result<Secured, StoreError> {
    let file = folder.join(DATABASE);
    let fault = |error| Fault::of(Part::Database, error);
    let mut older = false;
    let secured = file::secure(&file, Part::Database, |connection| {
        match version_of(connection).map_err(fault)? {
            VERSION => Ok(Verdict::Use),
            0 => {
                let count = "SELECT count(*) FROM sqlite_schema";
                let count = connection.query_row(count, [], |row| row.get::<_, i64>(0));
                match count.map_err(fault)? {
                    0 => Ok(Verdict::Use),
                    _ => Err(Fault::Damaged("it has tables of another kind".to_owned())),
                }
            }
            found if found > VERSION => Err(Fault::Refused(StoreError::Version {
                folder: folder.to_owned(),
                found,
                expected: VERSION,
                advice: "use that version, or give this one its own database with --db DIR",
            })),
            found => {
                older = true;
                Ok(Verdict::Older(found))
            }
        }
    })?;
    if older {
        remove_older_bodies(folder);
    }
    notices.extend(secured.notice.clone());
    Ok(secured)
}

/// Formats up to 10 kept bodies in a folder of sled's, which nothing reads any more.
fn remove_older_bodies(folder: &Path) {
    let bodies = folder.join("bodies");
    if ["conf", "db"]
        .iter()
        .all(|file| bodies.join(file).is_file())
    {
        // What cannot be removed is in nobody's way.
        let _ = fs::remove_dir_all(bodies);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_names_this_format() {
        let manual = include_str!("../../docs/database.md");
        let named = format!("(`PRAGMA user_version`, {VERSION} now)");
        assert!(
            manual.contains(&named),
            "docs/database.md does not say {named}"
        );
    }
}
