//! A database file of the folder: whether it can be trusted, and what becomes of it if not.
//!
//! In: a file that an earlier run left, or none. Out: a file that SQLite can open, and what a person
//! should know: a damaged one is moved aside, and one of its kind is kept.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::seal::{self, Condition};
use super::{Part, StoreError};

/// The longest wait for a lock that another program holds.
const BUSY: Duration = Duration::from_secs(20);
/// What a damaged file is called.
pub(super) const DAMAGED: &str = "damaged";

/// For a run, which makes what is not there.
pub(super) const WRITE: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_CREATE);

/// Why a file is not used.
#[derive(Debug)]
pub(super) enum Fault {
    /// It is damaged, in these words.
    Damaged(String),
    /// It may be sound; nothing is to become of it.
    Refused(StoreError),
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Fault::Refused(error)
    }
}

impl Fault {
    pub(super) fn of(part: Part, error: rusqlite::Error) -> Fault {
        match is_damage(&error) {
            true => Fault::Damaged(error.to_string()),
            false => Fault::Refused(StoreError::Sql { part, error }),
        }
    }
}

/// What is to become of a file that can be read.
#[derive(Debug)]
pub(super) enum Verdict {
    Use,
    /// Another build's cache: removed without a word.
    Discard,
    /// An older version's, of this format: moved aside.
    Older(i64),
}

/// A file, ready to be opened for writing.
#[derive(Debug)]
pub(super) struct Secured {
    /// It has what an earlier run left, and no seal vouches for it.
    pub examined: bool,
    /// What a person should know.
    pub notice: Option<String>,
    /// Where a file is that was moved aside.
    pub aside: Option<PathBuf>,
}

/// Makes sure that a file is sound, or not there. `judge` tells of one that can be read whether it is to
/// be used.
pub(super) fn secure(
    file: &Path,
    part: Part,
    judge: impl FnOnce(&Connection) -> Result<Verdict, Fault>,
) -> Result<Secured, StoreError> {
    let not_writable = |error| StoreError::not_writable(file, error);
    let condition = seal::examine(file).map_err(not_writable)?;
    let verdict = match condition {
        Condition::Absent => Ok(Verdict::Discard),
        Condition::Damaged => Err(Fault::Damaged(
            "it is not as the last run left it".to_owned(),
        )),
        Condition::Sound | Condition::Unsealed => {
            if condition == Condition::Sound {
                // A log beside a file that is whole by itself is no run's.
                remove_foreign_log(file).map_err(not_writable)?;
            }
            examine(file, part, condition, judge)
        }
    };
    let mut examined = false;
    let mut moved = None;
    let notice = match verdict {
        Ok(Verdict::Use) => {
            examined = condition == Condition::Unsealed;
            None
        }
        Ok(Verdict::Discard) => {
            remove(file).map_err(not_writable)?;
            None
        }
        Ok(Verdict::Older(found)) => {
            let aside = move_aside(file, &format!("format-{found}")).map_err(not_writable)?;
            moved = Some(aside.clone());
            Some(format!(
                "the {part} was written by an older version of cassini (format {found}); it was moved \
                 to {} and everything is analysed anew",
                aside.display()
            ))
        }
        Err(Fault::Damaged(why)) => {
            let aside = move_aside(file, DAMAGED).map_err(not_writable)?;
            moved = Some(aside.clone());
            Some(part.moved(file, &why, &aside))
        }
        Err(Fault::Refused(error)) => return Err(error),
    };
    seal::remove(file).map_err(not_writable)?;
    Ok(Secured {
        examined,
        notice,
        aside: moved,
    })
}

fn examine(
    file: &Path,
    part: Part,
    condition: Condition,
    judge: impl FnOnce(&Connection) -> Result<Verdict, Fault>,
) -> Result<Verdict, Fault> {
    let fault = |error| Fault::of(part, error);
    let connection = open(file, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(fault)?;
    let verdict = judge(&connection)?;
    if condition == Condition::Unsealed && matches!(verdict, Verdict::Use) {
        let check = "PRAGMA integrity_check(1)";
        let found = connection.query_row(check, [], |row| row.get::<_, String>(0));
        let found = found.map_err(fault)?;
        if found != "ok" {
            return Err(Fault::Damaged(first_line(&found)));
        }
    }
    Ok(verdict)
}

/// Opens a file; no wait of the connection is unbounded, and it writes no file elsewhere.
pub(super) fn open(file: &Path, flags: OpenFlags) -> Result<Connection, rusqlite::Error> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY)?;
    // The file may have come with a tree: its tables are read, and nothing in it is run.
    for (setting, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(setting, value)?;
    }
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

/// Closes a file's last connection and seals the file. Without a seal the next run examines it.
pub(super) fn close(file: &Path, connection: Connection) -> Result<(), rusqlite::Error> {
    // A query that reads meanwhile keeps the log in use.
    connection.busy_timeout(Duration::from_millis(500))?;
    let busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
        Ok(row.get::<_, i64>(0)? != 0)
    })?;
    connection.close().map_err(|(_, error)| error)?;
    if !busy {
        // Whatever keeps the seal from being written costs the next run an examination.
        let _ = seal::put(file);
    }
    Ok(())
}

/// Whether the file is to blame, or the disk beneath it, and a new file may do better.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    /// SQLITE_READONLY_DBMOVED: the file was removed while it was open.
    const MOVED: i32 = 8 | (4 << 8);
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::ReadOnly => failure.extended_code == MOVED,
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::OutOfMemory
            | ErrorCode::PermissionDenied
            | ErrorCode::OperationInterrupted => false,
            _ => true,
        },
        _ => true,
    }
}

/// Renames a file and what SQLite keeps beside it; an earlier one of that name is removed. Answers the
/// new name.
pub(super) fn move_aside(file: &Path, word: &str) -> io::Result<PathBuf> {
    let aside = with_suffix(file, &format!(".{word}"));
    remove(&aside)?;
    seal::remove(file)?;
    for beside in BESIDE {
        absent_is_fine(fs::rename(
            with_suffix(file, beside),
            with_suffix(&aside, beside),
        ))?;
    }
    absent_is_fine(fs::rename(file, &aside))?;
    Ok(aside)
}

/// Files that SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

fn remove(file: &Path) -> io::Result<()> {
    remove_beside(file)?;
    seal::remove(file)?;
    remove_any(file)
}

fn remove_beside(file: &Path) -> io::Result<()> {
    BESIDE
        .iter()
        .try_for_each(|beside| remove_any(&with_suffix(file, beside)))
}

fn remove_foreign_log(file: &Path) -> io::Result<()> {
    for beside in ["-wal", "-journal"] {
        let log = with_suffix(file, beside);
        if fs::symlink_metadata(&log).is_ok_and(|data| data.is_dir() || data.len() > 0) {
            remove_any(&log)?;
        }
    }
    Ok(())
}

/// Removes a file, or a folder in its place.
fn remove_any(path: &Path) -> io::Result<()> {
    absent_is_fine(match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    })
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = file.into();
    name.push(suffix);
    name.into()
}

/// SQLite tells of damage in several lines, the first of which may name the schema only.
fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.starts_with("***"));
    line.unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(file: &Path) {
        let connection = open(file, WRITE).unwrap();
        connection
            .pragma_update(None, "journal_mode", "WAL")
            .unwrap();
        connection
            .execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (randomblob(20000));")
            .unwrap();
        close(file, connection).unwrap();
    }

    fn check(file: &Path) -> Secured {
        secure(file, Part::Bodies, |_| Ok(Verdict::Use)).unwrap()
    }

    #[test]
    fn triggers_and_views_of_a_file_are_not_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.sqlite");
        let tables = "CREATE TABLE t (a); CREATE TABLE u (a); CREATE VIEW v AS SELECT 1;
                      CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO u VALUES (1); END;";
        let connection = Connection::open(&file).unwrap();
        connection.execute_batch(tables).unwrap();
        drop(connection);
        let connection = open(&file, WRITE).unwrap();
        connection.execute("INSERT INTO t VALUES (1)", []).unwrap();
        let count = |table: &str| {
            let query = format!("SELECT count(*) FROM {table}");
            connection.query_row(&query, [], |row| row.get::<_, i64>(0))
        };
        assert_eq!((count("t").unwrap(), count("u").unwrap()), (1, 0));
        assert!(count("v").is_err());
    }

    #[test]
    fn a_sound_file_stays_and_a_damaged_one_is_moved_aside_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.sqlite");
        assert!(check(&file).notice.is_none());
        make(&file);
        let names = || fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names(), 2, "a file and its seal");
        let secured = check(&file);
        assert!(secured.notice.is_none() && !secured.examined);
        // A run that was killed left no seal.
        let secured = check(&file);
        assert!(secured.notice.is_none() && secured.examined);

        let mut bytes = fs::read(&file).unwrap();
        bytes[4096 + 3] ^= 0xff;
        fs::write(&file, &bytes).unwrap();
        for _ in 0..2 {
            let notice = check(&file).notice.unwrap();
            assert!(notice.contains("x.sqlite.damaged"), "{notice}");
            assert!(!file.exists());
            assert_eq!(names(), 1, "one damaged file is kept");
            fs::write(&file, &bytes[..9000]).unwrap();
        }
    }

    #[test]
    fn garbage_in_the_place_of_a_log_does_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.sqlite");
        make(&file);
        for beside in BESIDE {
            fs::write(with_suffix(&file, beside), vec![0xa5; 70_000]).unwrap();
        }
        assert!(check(&file).notice.is_none());
        let connection = open(&file, WRITE).unwrap();
        let count = connection.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0));
        assert_eq!(count.unwrap(), 1);
    }
}
