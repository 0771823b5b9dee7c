//! The verdicts that people have given, which no run can compute again.
//!
//! In: verdicts on findings. Out: the same, whatever runs come between. A database that is moved aside, damaged or of an older
//! version, hands its verdicts on to the new one.

use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, params};

use super::{DATABASE, StoreError, file, schema, seal};
use crate::triage::{Entry, Judged, Verdict};

/// All verdicts, by fingerprint. A row that no version of this program has written is left out.
pub(super) fn read(connection: &Connection) -> Result<Vec<Judged>, rusqlite::Error> {
    let mut statement = connection.prepare(
        "SELECT fingerprint, verdict, rule, file, function, object, note FROM verdicts ORDER BY fingerprint",
    )?;
    let rows = statement.query_map([], |row| {
        let verdict: String = row.get(1)?;
        let Some(verdict) = Verdict::parse(&verdict) else {
            return Ok(None);
        };
        Ok(Some(Judged {
            fingerprint: row.get(0)?,
            verdict,
            rule: row.get(2)?,
            file: row.get(3)?,
            function: row.get(4)?,
            object: row.get(5)?,
            note: row.get(6)?,
        }))
    })?;
    rows.filter_map(Result::transpose).collect()
}

fn write(connection: &Connection, judged: &Judged) -> Result<(), rusqlite::Error> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO verdicts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?
        .execute(params![
            judged.fingerprint,
            judged.verdict.name(),
            judged.rule,
            judged.file,
            judged.function,
            judged.object,
            judged.note,
        ])?;
    Ok(())
}

fn remove(connection: &Connection, fingerprint: &str) -> Result<bool, rusqlite::Error> {
    let removed =
        connection.execute("DELETE FROM verdicts WHERE fingerprint = ?1", [fingerprint])?;
    Ok(removed > 0)
}

/// Gives verdicts the fingerprints that their findings have in this run: the files of some have other names now.
pub(super) fn follow(connection: &Connection, entries: &[Entry]) -> Result<(), rusqlite::Error> {
    for Entry {
        finding, judged, ..
    } in entries
    {
        let Some(before) = judged else { continue };
        if before.fingerprint == finding.fingerprint {
            continue;
        }
        remove(connection, &before.fingerprint)?;
        let note = before.note.clone();
        let now = Judged::of(finding, before.verdict);
        write(connection, &Judged { note, ..now })?;
    }
    Ok(())
}

/// Takes over the verdicts of a database that was moved aside, as far as they can be read, and answers what a person should know.
pub(super) fn rescue(
    aside: &Path,
    connection: &Connection,
) -> Result<Option<String>, rusqlite::Error> {
    let found = file::open(aside, OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|old| read(&old));
    let found = match found {
        Ok(found) => found,
        // Older versions kept none.
        Err(error) if error.to_string().contains("no such table") => return Ok(None),
        Err(error) => {
            return Ok(Some(format!("verdicts in it cannot be read ({error})")));
        }
    };
    for judged in &found {
        write(connection, judged)?;
    }
    Ok(match found.len() {
        0 => None,
        1 => Some("the verdict in it was taken over".to_owned()),
        count => Some(format!("the {count} verdicts in it were taken over")),
    })
}

/// A database, open for a person's verdicts.
#[derive(Debug)]
pub struct Verdicts {
    connection: Connection,
    file: PathBuf,
    /// Held for as long as the database is open.
    _lock: File,
}

impl Verdicts {
    /// Opens the database of a folder, which a run must have made.
    pub fn open(folder: &Path) -> Result<Verdicts, StoreError> {
        // Tells what is wrong with it, if something is.
        schema::open_to_read(folder)?;
        let lock = super::lock(folder)?;
        let file = folder.join(DATABASE);
        seal::remove(&file).map_err(|error| StoreError::not_writable(&file, error))?;
        let connection = file::open(&file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        Ok(Verdicts {
            connection,
            file,
            _lock: lock,
        })
    }

    /// Keeps verdicts: all of them, or none if one cannot be kept. Each replaces one on the same finding.
    pub fn put(&mut self, verdicts: &[Judged]) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        for judged in verdicts {
            write(&transaction, judged)?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Takes a verdict back. Answers whether there was one.
    pub fn remove(&mut self, fingerprint: &str) -> Result<bool, StoreError> {
        Ok(remove(&self.connection, fingerprint)?)
    }

    /// Closes the database, so that the next run can tell that it is whole.
    pub fn close(self) -> Result<(), StoreError> {
        Ok(file::close(&self.file, self.connection)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;
    use std::fs;

    fn judged(fingerprint: &str) -> Judged {
        Judged {
            fingerprint: fingerprint.into(),
            verdict: Verdict::Bug,
            rule: "lock/double-lock".into(),
            file: "a.c".into(),
            function: "f".into(),
            object: "l".into(),
            note: "why".into(),
        }
    }

    fn all(folder: &Path) -> Vec<Judged> {
        let reader = super::super::query::Reader::open(folder).unwrap();
        reader.verdicts().unwrap()
    }

    #[test]
    fn verdicts_outlive_an_older_format_and_a_damaged_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        Store::open(at).unwrap().0.close();
        let mut verdicts = Verdicts::open(at).unwrap();
        assert!(matches!(Store::open(at), Err(StoreError::Locked(_))));
        verdicts.put(&[judged("b"), judged("a")]).unwrap();
        verdicts.close().unwrap();
        assert_eq!(all(at), [judged("a"), judged("b")]);

        let file = at.join(DATABASE);
        let connection = Connection::open(&file).unwrap();
        let older = schema::VERSION - 1;
        connection
            .pragma_update(None, "user_version", older)
            .unwrap();
        drop(connection);
        fs::remove_file(seal::path(&file)).unwrap();
        let (store, notices) = Store::open(at).unwrap();
        assert!(
            notices[1].contains("2 verdicts in it were taken over"),
            "{notices:?}"
        );
        store.close();
        assert_eq!(all(at), [judged("a"), judged("b")]);

        // One byte more: it is not as it was left, though all of it can be read.
        let mut bytes = fs::read(&file).unwrap();
        bytes.extend([0; 4096]);
        fs::write(&file, bytes).unwrap();
        let (store, notices) = Store::open(at).unwrap();
        assert!(notices[1].contains("2 verdicts"), "{notices:?}");
        store.close();
        assert_eq!(all(at).len(), 2);
    }

    #[test]
    fn a_verdict_can_be_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        Store::open(folder.path()).unwrap().0.close();
        let mut verdicts = Verdicts::open(folder.path()).unwrap();
        verdicts.put(&[judged("a")]).unwrap();
        assert!(verdicts.remove("a").unwrap());
        assert!(!verdicts.remove("a").unwrap());
        verdicts.close().unwrap();
        assert!(all(folder.path()).is_empty());
    }
}
