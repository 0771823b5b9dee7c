//! The tables of the body cache, and the one connection to them.
//!
//! Values lie under hashes of what they were made from. What is put is committed in batches, as unit
//! after unit is read: an index that is there names only what is there, too.

use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension};

/// What was put is committed when it is this old or this much.
const BATCH_AGE: Duration = Duration::from_secs(1);
const BATCH_LENGTH: usize = 4096;

/// Each is keyed by a hash; values are checked.
#[derive(Clone, Copy, Debug)]
pub(super) enum Table {
    Bodies,
    Units,
    /// What the units' indexes name: a header's functions are in a thousand of them.
    Definitions,
}

impl Table {
    const ALL: [Table; 3] = [Table::Bodies, Table::Units, Table::Definitions];

    fn name(self) -> &'static str {
        match self {
            Table::Bodies => "bodies",
            Table::Units => "units",
            Table::Definitions => "definitions",
        }
    }
}

/// The connection, and what was put since the last commit.
pub(super) struct Connected {
    pub connection: Connection,
    length: usize,
    /// When to commit at the latest; `None` outside a transaction.
    due: Option<Instant>,
    /// The first write that failed: a cache that cannot be written to costs the functions that were
    /// to be read from it.
    pub error: Option<rusqlite::Error>,
    /// This run has put a body.
    pub written: bool,
}

impl Connected {
    pub fn new(connection: Connection) -> Connected {
        Connected {
            connection,
            length: 0,
            due: None,
            error: None,
            written: false,
        }
    }

    pub fn get(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, rusqlite::Error> {
        let query = match table {
            Table::Bodies => "SELECT value FROM bodies WHERE key = ?1",
            Table::Units => "SELECT value FROM units WHERE key = ?1",
            Table::Definitions => "SELECT value FROM definitions WHERE key = ?1",
        };
        self.connection
            .prepare_cached(query)?
            .query_row([key], |row| row.get(0))
            .optional()
    }

    pub fn put(&mut self, table: Table, key: &[u8], value: &[u8]) {
        if self.error.is_some() {
            return;
        }
        if let Err(error) = self.try_put(table, key, value) {
            self.error = Some(error);
        }
    }

    fn try_put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<(), rusqlite::Error> {
        if self.due.is_none() {
            self.connection.execute_batch("BEGIN IMMEDIATE")?;
            self.due = Some(Instant::now() + BATCH_AGE);
        }
        let insert = match table {
            Table::Bodies => "INSERT OR REPLACE INTO bodies VALUES (?1, ?2)",
            Table::Units => "INSERT OR REPLACE INTO units VALUES (?1, ?2)",
            Table::Definitions => "INSERT OR REPLACE INTO definitions VALUES (?1, ?2)",
        };
        let mut insert = self.connection.prepare_cached(insert)?;
        insert.execute((key, value))?;
        drop(insert);
        self.length += 1;
        if self.length >= BATCH_LENGTH || self.due.is_some_and(|due| Instant::now() >= due) {
            self.commit()?;
        }
        Ok(())
    }

    pub fn commit(&mut self) -> Result<(), rusqlite::Error> {
        if self.due.take().is_some() {
            self.length = 0;
            self.connection.execute_batch("COMMIT")?;
        }
        Ok(())
    }

    /// Removes the keys that are not kept.
    pub fn retain<const N: usize>(
        &self,
        table: Table,
        keep: impl Fn([u8; N]) -> bool,
    ) -> Result<(), rusqlite::Error> {
        let table = table.name();
        let mut select = self
            .connection
            .prepare(&format!("SELECT rowid, key FROM {table}"))?;
        let mut rows = select.query([])?;
        let mut old: Vec<i64> = Vec::new();
        while let Some(row) = rows.next()? {
            let key = row.get_ref(1)?.as_blob()?;
            if !<[u8; N]>::try_from(key).is_ok_and(&keep) {
                old.push(row.get(0)?);
            }
        }
        drop(rows);
        let mut delete = self
            .connection
            .prepare(&format!("DELETE FROM {table} WHERE rowid = ?1"))?;
        for row in old {
            delete.execute([row])?;
        }
        Ok(())
    }
}

/// The file that another build wrote may be encoded otherwise, and is worth no more than the time to make
/// it again.
pub(super) fn is_this_builds(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'build'";
    if connection.query_row(tables, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(false);
    }
    let build = connection.query_row("SELECT name FROM build", [], |row| row.get(0));
    let build: Option<String> = build.optional()?;
    Ok(build.as_deref() == Some(env!("CASSINI_BUILD")))
}

pub(super) fn create(connection: &Connection) -> Result<(), rusqlite::Error> {
    let tables = Table::ALL.map(|table| {
        let name = table.name();
        format!("CREATE TABLE IF NOT EXISTS {name} (key BLOB PRIMARY KEY, value BLOB NOT NULL);")
    });
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE; {} CREATE TABLE IF NOT EXISTS build (name TEXT PRIMARY KEY);
         INSERT OR IGNORE INTO build VALUES ('{}'); COMMIT;",
        tables.concat(),
        env!("CASSINI_BUILD")
    ))
}
