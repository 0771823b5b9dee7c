//! What is kept from run to run, in one folder: lowered bodies ([`bodies`]) and the summary and report
//! database ([`database`]), each a file of SQLite's.
//!
//! One run at a time writes; queries read beside it. All but the [`verdicts`] that people have given can be computed again: deleting
//! the folder costs these and time, nothing else. So nothing here is trusted: a file is compared with its
//! [`seal`], values carry hashes ([`checked`]), and what cannot be read is moved aside and made anew
//! ([`file`]). Nothing waits for ever: SQLite calls end by themselves, waits for locks and for the
//! [`writer`] are bounded.

pub mod bodies;
mod cache;
pub mod callees;
mod checked;
pub mod database;
mod file;
pub mod find;
mod links;
mod manifests;
pub mod plain;
pub mod query;
mod results;
mod schema;
mod seal;
pub mod verdicts;
mod writer;

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub use bodies::Bodies;
pub use database::Database;
pub use links::refuse_links;

use crate::leftovers;

/// The folder's name where none is given.
pub const DEFAULT_FOLDER: &str = ".cassini";

const DATABASE: &str = "cassini.sqlite";
const BODIES: &str = "bodies.sqlite";
const LOCK: &str = "lock";
/// So often a folder is opened that somebody removes meanwhile.
const OPENINGS: usize = 3;
/// Temporary folders begin so.
const TEMPORARY: &str = "tmp-";

/// One of the folder's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Database,
    Bodies,
}

impl Part {
    fn file(self, folder: &Path) -> PathBuf {
        folder.join(match self {
            Part::Database => DATABASE,
            Part::Bodies => BODIES,
        })
    }

    /// Says that a damaged file was moved.
    fn moved(self, file: &Path, why: &str, aside: &Path) -> String {
        let consequence = match self {
            Part::Database => "everything is analysed anew",
            Part::Bodies => "everything is read anew",
        };
        let (file, aside) = (file.display(), aside.display());
        format!("{file} is damaged ({why}); it was moved to {aside} and {consequence}")
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Database => "database",
            Part::Bodies => "body cache",
        })
    }
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot write to {}: {error}; choose another place for the database with --db DIR", folder.display())]
    NotWritable {
        folder: PathBuf,
        error: std::io::Error,
    },
    #[error("no database in {}: run `cassini check` first, or name its folder with --db DIR", .0.display())]
    Missing(PathBuf),
    #[error("another build of cassini has kept the bodies of functions in {}: run `cassini check` again with this one", .0.display())]
    OtherBuild(PathBuf),
    #[error(
        "{} is a symbolic link, so the database would be written elsewhere; remove it, or name the database's \
         folder with --db DIR", .0.display()
    )]
    Link(PathBuf),
    #[error("several databases were written at the same time: {}; name one with --db DIR", listed(.0))]
    Several(Vec<PathBuf>),
    #[error("another run of cassini is using {}; wait for it, or give this one its own with --db DIR", .0.display())]
    Locked(PathBuf),
    #[error(
        "the database in {} was written by another version of cassini (format {found}, this one \
         reads {expected}); {advice}", folder.display()
    )]
    Version {
        folder: PathBuf,
        found: i64,
        expected: i64,
        advice: &'static str,
    },
    #[error("{} is damaged ({error}); run `cassini check` again to have it made anew", file.display())]
    Damaged { file: PathBuf, error: String },
    #[error("{part}: {error}")]
    Sql { part: Part, error: rusqlite::Error },
    #[error("database: no answer for {0} seconds")]
    Stuck(u64),
    /// What a run needs was there and cannot be had.
    #[error("{part}: {what}")]
    Lost { part: Part, what: String },
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let part = Part::Database;
        StoreError::Sql { part, error }
    }
}

impl StoreError {
    /// The folder of `file` cannot be written.
    fn not_writable(file: &Path, error: std::io::Error) -> StoreError {
        StoreError::NotWritable {
            folder: file.parent().unwrap_or(file).to_owned(),
            error,
        }
    }

    /// Whether opening may succeed where this came of a file's being removed.
    fn may_pass(&self) -> bool {
        match self {
            StoreError::NotWritable { error, .. } => error.kind() == ErrorKind::NotFound,
            error => error.failed_part().is_some(),
        }
    }

    /// The file that failed while it was in use, if a new one may do better.
    pub fn failed_part(&self) -> Option<Part> {
        match self {
            StoreError::Lost { part, .. } => Some(*part),
            StoreError::Sql { part, error } if file::is_damage(error) => Some(*part),
            _ => None,
        }
    }
}

/// The folder, open for a run.
#[derive(Debug)]
pub struct Store {
    pub bodies: Bodies,
    pub database: Database,
    folder: PathBuf,
    temporary: leftovers::Folder,
    /// Held for as long as the store is open.
    lock: File,
}

impl Store {
    /// Opens the folder for writing, making it if need be. Answers what a person should know: which
    /// files were damaged, or an older version's, and moved aside.
    pub fn open(folder: &Path) -> Result<(Store, Vec<String>), StoreError> {
        let mut opened = Store::open_once(folder);
        for _ in 1..OPENINGS {
            if !matches!(&opened, Err(error) if error.may_pass()) {
                break;
            }
            opened = Store::open_once(folder);
        }
        opened
    }

    fn open_once(folder: &Path) -> Result<(Store, Vec<String>), StoreError> {
        let not_writable = |error| StoreError::NotWritable {
            folder: folder.to_owned(),
            error,
        };
        fs::create_dir_all(folder).map_err(not_writable)?;
        let lock = lock(folder)?;
        remove_temporary(folder);
        // Links and relative paths must not differ from what a compiler prints.
        let absolute = folder.canonicalize().map_err(not_writable)?;
        let mut notices = Vec::new();
        let store = Store {
            database: Database::open(folder, &mut notices)?,
            bodies: Bodies::open(folder, &mut notices)?,
            folder: folder.to_owned(),
            temporary: leftovers::Folder::create(TEMPORARY, &absolute).map_err(not_writable)?,
            lock,
        };
        Ok((store, notices))
    }

    /// A folder for what is gone when the run ends.
    pub fn temporary(&self) -> &Path {
        self.temporary.path()
    }

    /// Ends a run. Answers what a person should know of what is kept of it.
    pub fn close(self) -> Option<String> {
        let removed = self.is_removed();
        let Store {
            bodies,
            database,
            folder,
            temporary,
            ..
        } = self;
        drop(temporary);
        if removed {
            // What is there by that name is not ours.
            return Some(format!(
                "{} was removed while it was in use: nothing is kept of this run",
                folder.display()
            ));
        }
        // A file that could not be closed has no seal: the next run examines it.
        let _ = database.close();
        let _ = bodies.close();
        None
    }

    /// Replaces a file that failed while it was in use, and answers what a person should know.
    pub fn renew(self, part: Part, why: &str) -> Result<(Store, Vec<String>), StoreError> {
        let folder = self.folder.clone();
        let mut notices: Vec<String> = self.close().into_iter().collect();
        let path = part.file(&folder);
        let mut moved = None;
        if path.exists() {
            let aside = file::move_aside(&path, file::DAMAGED);
            let aside = aside.map_err(|error| StoreError::not_writable(&path, error))?;
            notices.push(part.moved(&path, why, &aside));
            moved = Some(aside).filter(|_| part == Part::Database);
        }
        let (store, more) = Store::open(&folder)?;
        notices.extend(more);
        if let Some(aside) = moved {
            notices.extend(verdicts::rescue(&aside, &store.database.connection())?);
        }
        Ok((store, notices))
    }

    /// Whether the folder is not the one that was opened.
    fn is_removed(&self) -> bool {
        let identity = |data: &fs::Metadata| (data.dev(), data.ino());
        let there = fs::metadata(self.folder.join(LOCK)).ok();
        let ours = self.lock.metadata().ok();
        there.as_ref().map(identity) != ours.as_ref().map(identity)
    }
}

/// Keeps other runs from writing for as long as the file is open.
fn lock(folder: &Path) -> Result<File, StoreError> {
    let not_writable = |error| StoreError::NotWritable {
        folder: folder.to_owned(),
        error,
    };
    let lock = File::create(folder.join(LOCK)).map_err(not_writable)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked(folder.to_owned())),
        Err(TryLockError::Error(error)) => Err(not_writable(error)),
    }
}

/// Whether a run, or a person's verdict, is being written to the database of `folder` now.
pub fn is_being_written(folder: &Path) -> bool {
    // A sealed file has no writer. That is asked first: a run that begins must not find its lock taken by this question.
    if seal::path(&folder.join(DATABASE)).exists() {
        return false;
    }
    let Ok(lock) = File::open(folder.join(LOCK)) else {
        return false;
    };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// What tells the database's file from another one of its name, which a run puts in its place.
pub fn identity(folder: &Path) -> Option<(u64, u64)> {
    let data = fs::metadata(folder.join(DATABASE)).ok()?;
    Some((data.dev(), data.ino()))
}

/// Removes what killed runs have left. The lock is held, so no other run uses it.
fn remove_temporary(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes()) {
            // What cannot be removed is in nobody's way.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The database folder of `tree`.
pub fn default_folder(tree: &Path) -> PathBuf {
    tree.join(DEFAULT_FOLDER)
}

fn listed(folders: &[PathBuf]) -> String {
    let names: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_on_the_same_folder_is_told_so() {
        let folder = tempfile::tempdir().unwrap();
        let (_store, notices) = Store::open(folder.path()).unwrap();
        assert!(notices.is_empty(), "{notices:?}");
        assert!(matches!(
            Store::open(folder.path()),
            Err(StoreError::Locked(_))
        ));
    }

    #[test]
    fn an_older_database_is_moved_aside_and_a_newer_one_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        drop(Store::open(folder.path()).unwrap());
        let file = folder.path().join(DATABASE);
        let set_version = |version: i64| {
            let connection = rusqlite::Connection::open(&file).unwrap();
            connection
                .pragma_update(None, "user_version", version)
                .unwrap();
        };
        set_version(schema::VERSION + 1);
        let error = Store::open(folder.path()).unwrap_err();
        assert!(matches!(error, StoreError::Version { .. }), "{error}");

        set_version(schema::VERSION - 1);
        let (_store, notices) = Store::open(folder.path()).unwrap();
        assert!(notices[0].contains("moved to"), "{notices:?}");
        let aside = format!("{DATABASE}.format-{}", schema::VERSION - 1);
        assert!(folder.path().join(aside).is_file());
    }

    #[test]
    fn a_file_that_is_no_database_is_moved_aside_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(DATABASE);
        let text = "not a database at all, only some text";
        fs::write(&file, text).unwrap();
        let (_store, notices) = Store::open(folder.path()).unwrap();
        let aside = folder.path().join("cassini.sqlite.damaged");
        assert_eq!(fs::read_to_string(&aside).unwrap(), text);
        assert!(notices[0].contains("cassini.sqlite.damaged"), "{notices:?}");
    }

    #[test]
    fn a_store_that_was_closed_is_sound_and_leaves_nothing_temporary() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tmp-left")).unwrap();
        let (store, _) = Store::open(folder.path()).unwrap();
        assert!(!folder.path().join("tmp-left").exists());
        assert!(store.temporary().is_dir());
        assert_eq!(store.close(), None);
        let mut names: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let expected = [
            BODIES,
            "bodies.sqlite.seal",
            DATABASE,
            "cassini.sqlite.seal",
            LOCK,
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_removed_folder_is_told_and_a_lost_part_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("db");
        let (store, _) = Store::open(&at).unwrap();
        let (store, notices) = store.renew(Part::Bodies, "a test").unwrap();
        assert!(notices[0].contains("bodies.sqlite.damaged"), "{notices:?}");
        fs::remove_dir_all(&at).unwrap();
        assert!(store.close().unwrap().contains("was removed"));
        assert!(!at.exists());
    }
}
