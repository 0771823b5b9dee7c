//! The manifests of the units that were read, in SQLite: what each unit's text came from.
//!
//! In: states of files and folders, and manifests that name them by number. Out: the same in a later
//! run of the same build. They are written in the order in which they are put, so that no manifest
//! names a state that a killed run has not left.

use rusqlite::{Connection, Row, params};
use serde::de::DeserializeOwned;

use super::checked;
use super::database::Database;
use super::writer::Message;
use crate::capture::{Archive, Archived, CommandKey, Manifest, State, StateId};

/// The tables.
pub(super) const TABLES: &str = "
    CREATE TABLE states (id INTEGER PRIMARY KEY, state BLOB NOT NULL);            -- checked
    CREATE TABLE manifests (command BLOB PRIMARY KEY, manifest BLOB NOT NULL);    -- checked
";

/// Key in `meta` of the build that wrote the manifests.
const BUILD: &str = "manifests";

impl Archive for Database {
    fn load(&self) -> Archived {
        // What cannot be read is made again.
        load(&self.connection()).unwrap_or_default()
    }

    fn put_state(&self, id: StateId, state: &State) {
        if let Ok(state) = checked::encode(&id.0.to_le_bytes(), state) {
            self.send(Message::State { id: id.0, state });
        }
    }

    fn put_manifest(&self, key: &CommandKey, manifest: &Manifest) {
        if let Ok(manifest) = checked::encode(&key.0, manifest) {
            let command = key.0;
            self.send(Message::Manifest { command, manifest });
        }
    }

    fn forget(&self, manifests: &[CommandKey], states: &[StateId]) {
        self.send(Message::Forget {
            manifests: manifests.iter().map(|key| key.0).collect(),
            states: states.iter().map(|id| id.0).collect(),
        });
    }
}

fn load(connection: &Connection) -> Result<Archived, rusqlite::Error> {
    let build: Option<String> = connection
        .prepare("SELECT value FROM meta WHERE key = ?1")?
        .query_map([BUILD], |row| row.get(0))?
        .next()
        .transpose()?;
    if build.as_deref() != Some(env!("CASSINI_BUILD")) {
        // Another build's may mean something else.
        connection.execute_batch("DELETE FROM manifests; DELETE FROM states;")?;
        connection.execute(
            "INSERT OR REPLACE INTO meta VALUES (?1, ?2)",
            [BUILD, env!("CASSINI_BUILD")],
        )?;
    }
    let states = rows(
        connection,
        "SELECT id, state FROM states ORDER BY id",
        |row| Ok(StateId(row.get(0)?)),
        |id| id.0.to_le_bytes().to_vec(),
    )?;
    let manifests = rows(
        connection,
        "SELECT command, manifest FROM manifests",
        |row| Ok(CommandKey(row.get(0)?)),
        |key| key.0.to_vec(),
    )?;
    Ok(Archived { states, manifests })
}

/// Keys and values of a table; `bytes` are those of a key that a value is checked with.
fn rows<K, V: DeserializeOwned>(
    connection: &Connection,
    query: &str,
    key: impl Fn(&Row<'_>) -> Result<K, rusqlite::Error>,
    bytes: impl Fn(&K) -> Vec<u8>,
) -> Result<Vec<(K, V)>, rusqlite::Error> {
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let key = key(row)?;
        let value = row.get_ref(1)?.as_blob()?;
        if let Some(value) = checked::decode(&bytes(&key), value) {
            found.push((key, value));
        }
    }
    Ok(found)
}

/// Deletes manifests and states.
pub(super) fn forget(
    connection: &Connection,
    manifests: &[[u8; 32]],
    states: &[u32],
) -> Result<(), rusqlite::Error> {
    let mut delete = connection.prepare_cached("DELETE FROM manifests WHERE command = ?1")?;
    for command in manifests {
        delete.execute(params![command])?;
    }
    let mut delete = connection.prepare_cached("DELETE FROM states WHERE id = ?1")?;
    for id in states {
        delete.execute(params![id])?;
    }
    Ok(())
}
