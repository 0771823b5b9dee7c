//! What is kept from run to run, in one folder: lowered bodies ([`bodies`], sled) and the summary and
//! report database ([`database`], SQLite).
//!
//! One run at a time writes; queries read beside it. Everything here can be computed again: deleting
//! the folder costs time, nothing else.

pub mod bodies;
pub mod callees;
pub mod database;
pub mod find;
mod links;
mod manifests;
pub mod query;
mod schema;
mod writer;

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

pub use bodies::Bodies;
pub use database::Database;
pub use links::refuse_links;

/// The folder's name where none is given.
pub const DEFAULT_FOLDER: &str = ".cassini";

const DATABASE: &str = "cassini.sqlite";
const BODIES: &str = "bodies";
const LOCK: &str = "lock";

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot write to {}: {error}; choose another place for the database with --db DIR", folder.display())]
    NotWritable {
        folder: PathBuf,
        error: std::io::Error,
    },
    #[error("no database in {}: run `cassini check` first, or name its folder with --db DIR", .0.display())]
    Missing(PathBuf),
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
    #[error("{} is not a cassini database ({error}); remove it or give another folder with --db DIR", file.display())]
    Damaged { file: PathBuf, error: String },
    #[error("database: {0}")]
    Sql(#[from] rusqlite::Error),
    #[error("body cache: {0}")]
    Bodies(#[from] sled::Error),
}

/// The folder, open for a run.
#[derive(Debug)]
pub struct Store {
    pub bodies: Bodies,
    pub database: Database,
    /// Held for as long as the store is open.
    _lock: File,
}

impl Store {
    /// Opens the folder for writing, making it if need be. Answers what a person should know: that
    /// an older version's database was moved aside.
    pub fn open(folder: &Path) -> Result<(Store, Option<String>), StoreError> {
        let not_writable = |error| StoreError::NotWritable {
            folder: folder.to_owned(),
            error,
        };
        fs::create_dir_all(folder).map_err(not_writable)?;
        let lock = File::create(folder.join(LOCK)).map_err(not_writable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::Locked(folder.to_owned())),
            Err(TryLockError::Error(error)) => return Err(not_writable(error)),
        }
        let notice = schema::move_aside_if_older(folder)?;
        let bodies = folder.join(BODIES);
        let store = Store {
            bodies: Bodies::open(&bodies).map_err(|error| match error {
                sled::Error::Io(error) => not_writable(error),
                error => StoreError::Damaged {
                    file: bodies,
                    error: error.to_string(),
                },
            })?,
            database: Database::open(folder)?,
            _lock: lock,
        };
        Ok((store, notice))
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
        let (_store, notice) = Store::open(folder.path()).unwrap();
        assert_eq!(notice, None);
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
        let (_store, notice) = Store::open(folder.path()).unwrap();
        let notice = notice.unwrap();
        assert!(notice.contains("moved to"), "{notice}");
        let aside = format!("{DATABASE}.format-{}", schema::VERSION - 1);
        assert!(folder.path().join(aside).is_file());
    }

    #[test]
    fn a_file_that_is_no_database_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join(DATABASE),
            "not a database at all, only some text",
        )
        .unwrap();
        let error = Store::open(folder.path()).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    }
}
