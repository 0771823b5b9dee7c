//! Which database a query means.
//!
//! In: the folder that the user stands in, or the one that was named. Out: the database's folder: that of the
//! last check among those in the folder, above it and below it.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{DATABASE, DEFAULT_FOLDER, StoreError, default_folder};

/// So many folders below the user's are looked into.
const FOLDERS: usize = 4000;
/// So far below the user's folder a database is looked for.
const DEPTH: usize = 6;

/// A database that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub folder: PathBuf,
    /// The folder is not the one that a reader would think of first: there are others, or it lies below.
    pub told: bool,
}

/// The database in the folder that the user named: the database's own, or the tree's.
pub fn named_folder(folder: &Path) -> PathBuf {
    let within = default_folder(folder);
    match !is_database(folder) && is_database(&within) {
        true => within,
        false => folder.to_path_buf(),
    }
}

/// The database that was written last, of the nearest in `start` or above it, and those below it.
pub fn find_folder(start: &Path) -> Result<Found, StoreError> {
    let mut above = start.ancestors().map(default_folder);
    let above = above.find(|folder| is_database(folder));
    let mut folders = below(start);
    // One that lies here is found both ways.
    folders.retain(|folder| Some(folder) != above.as_ref());
    folders.extend(above.clone());
    let mut dated: Vec<(SystemTime, PathBuf)> = folders
        .into_iter()
        .filter_map(|folder| Some((written(&folder)?, folder)))
        .collect();
    dated.sort();
    let Some(&(latest, _)) = dated.last() else {
        return Err(StoreError::Missing(default_folder(start)));
    };
    let several = dated.len() > 1;
    dated.retain(|(time, _)| *time == latest);
    let mut last: Vec<PathBuf> = dated.into_iter().map(|(_, folder)| folder).collect();
    // Of two that tell no order, the nearest above goes first.
    if let Some(above) = above.filter(|above| last.contains(above)) {
        last = vec![above];
    }
    match <[PathBuf; 1]>::try_from(last) {
        Ok([folder]) => Ok(Found {
            told: several || !start.starts_with(folder.parent().unwrap_or(start)),
            folder,
        }),
        Err(last) => Err(StoreError::Several(last)),
    }
}

fn is_database(folder: &Path) -> bool {
    folder.join(DATABASE).is_file()
}

/// When the database of a folder was last written to.
pub fn written(folder: &Path) -> Option<SystemTime> {
    // What was not yet moved into the database lies in the log beside it.
    let files = [DATABASE.to_owned(), format!("{DATABASE}-wal")];
    let times = files.iter().filter_map(|file| {
        let data = folder.join(file).metadata().ok()?;
        data.modified().ok()
    });
    times.max()
}

/// The databases in `start` and the folders below it, as far as those are not too many.
fn below(start: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut queue = VecDeque::from([(start.to_path_buf(), 0)]);
    let mut left = FOLDERS;
    while let Some((folder, depth)) = queue.pop_front() {
        let database = folder.join(DEFAULT_FOLDER);
        if is_database(&database) {
            found.push(database);
        }
        if depth == DEPTH {
            continue;
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
            .map(|entry| entry.path())
            .collect();
        folders.sort();
        for folder in folders {
            if left == 0 {
                break;
            }
            left -= 1;
            queue.push_back((folder, depth + 1));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A file in a database's place, written so many seconds after a fixed time.
    fn database(tree: &Path, seconds: u64) {
        let folder = default_folder(tree);
        fs::create_dir_all(&folder).unwrap();
        let file = fs::File::create(folder.join(DATABASE)).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + seconds);
        file.set_modified(time).unwrap();
    }

    fn found(tree: &Path, told: bool) -> Found {
        Found {
            folder: default_folder(tree),
            told,
        }
    }

    #[test]
    fn the_last_written_database_is_taken_wherever_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let here = root.join("a/b");
        fs::create_dir_all(here.join("c/d")).unwrap();
        assert!(matches!(find_folder(&here), Err(StoreError::Missing(_))));
        database(root, 1);
        assert_eq!(find_folder(&here).unwrap(), found(root, false));
        database(&here.join("c/d"), 2);
        assert_eq!(find_folder(&here).unwrap(), found(&here.join("c/d"), true));
        database(&here, 3);
        assert_eq!(find_folder(&here).unwrap(), found(&here, true));
        database(&here.join("c"), 4);
        database(&here.join("c/d"), 4);
        let error = find_folder(&here).unwrap_err().to_string();
        assert!(
            error.contains("a/b/c/.cassini") && error.contains("--db"),
            "{error}"
        );
    }

    #[test]
    fn a_trees_folder_names_the_database_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(named_folder(root), root);
        database(root, 1);
        assert_eq!(named_folder(root), default_folder(root));
        assert_eq!(named_folder(&default_folder(root)), default_folder(root));
    }
}
