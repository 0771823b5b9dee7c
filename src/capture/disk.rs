//! What lies on the disk, looked at once a run.
//!
//! In: paths. Out: a file's hash and what its text asks for, a folder's names. Something that has
//! changed since the run began is told apart: a compiler may have read it before we did.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::hash::Hash;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::scan::Asks;
use crate::source::{self, read_regular};

/// Hash of a file's content.
pub(super) type ContentHash = [u8; 16];

#[derive(Debug)]
pub(super) struct File {
    pub hash: ContentHash,
    pub asks: Asks,
    /// The folder parts of the names asked for, each once.
    pub folders: Vec<Vec<u8>>,
    /// Those of the quoted names.
    pub quoted_folders: Vec<Vec<u8>>,
    /// It has not changed since the run began.
    pub settled: bool,
}

#[derive(Debug)]
pub(super) struct Folder {
    /// Sorted.
    pub names: Vec<OsString>,
    pub settled: bool,
}

/// Answers that are computed once for each key.
#[derive(Debug)]
pub(super) struct Memo<K, V>(Mutex<FxHashMap<K, Arc<OnceLock<V>>>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Memo(Mutex::default())
    }
}

impl<K: Hash + Eq, V: Clone> Memo<K, V> {
    pub(super) fn get(&self, key: K, compute: impl FnOnce() -> V) -> V {
        let cell = Arc::clone(self.0.lock().entry(key).or_default());
        cell.get_or_init(compute).clone()
    }
}

#[derive(Debug)]
pub(super) struct Disk {
    /// The file systems' clock when the run began.
    start: Duration,
    files: Memo<PathBuf, Option<Arc<File>>>,
    folders: Memo<PathBuf, Option<Arc<Folder>>>,
}

impl Disk {
    pub(super) fn new() -> Disk {
        // The clock that files' times are taken from: a file written later has no earlier time.
        let start = clock_gettime(ClockId::CLOCK_REALTIME_COARSE);
        Disk {
            start: start.map_or(Duration::ZERO, Duration::from),
            files: Memo::default(),
            folders: Memo::default(),
        }
    }

    /// `None` if it is no file that can be read.
    pub(super) fn file(&self, path: &Path) -> Option<Arc<File>> {
        self.files.get(path.to_owned(), || {
            // A pipe has no content to come back to.
            let text = read_regular(path, source::LIMIT).ok()?;
            let asks = Asks::of(&text);
            Some(Arc::new(File {
                hash: content_hash(&text),
                folders: folder_parts(asks.names()),
                quoted_folders: folder_parts(asks.quoted.iter().map(Vec::as_slice)),
                asks,
                settled: self.settled(path),
            }))
        })
    }

    /// `None` if there is no such folder.
    pub(super) fn folder(&self, path: &Path) -> Option<Arc<Folder>> {
        self.folders.get(path.to_owned(), || {
            // An empty path is the folder that the process runs in, which is nobody's business.
            let entries = path.is_absolute().then(|| std::fs::read_dir(path));
            let names = entries?.ok()?.map(|entry| Ok(entry?.file_name()));
            let mut names: Vec<OsString> = names.collect::<io::Result<_>>().ok()?;
            names.sort_unstable();
            Some(Arc::new(Folder {
                names,
                settled: self.settled(path),
            }))
        })
    }

    fn settled(&self, path: &Path) -> bool {
        // Neither a copy that keeps times nor a move keeps the time of the change.
        path.metadata().is_ok_and(|data| {
            let seconds = u64::try_from(data.ctime()).unwrap_or(0);
            let nanoseconds = u32::try_from(data.ctime_nsec()).unwrap_or(0);
            Duration::new(seconds, nanoseconds) < self.start
        })
    }
}

pub(super) fn content_hash(text: &[u8]) -> ContentHash {
    let mut hash = [0; 16];
    hash.copy_from_slice(&blake3::hash(text).as_bytes()[..16]);
    hash
}

/// A path without its last component; empty if that is all.
pub(super) fn folder_part(path: &[u8]) -> &[u8] {
    let end = memchr::memrchr(b'/', path);
    // The root's own slash stays.
    end.map_or(&[], |end| &path[..end.max(usize::from(end == 0))])
}

fn folder_parts<'n>(names: impl Iterator<Item = &'n [u8]>) -> Vec<Vec<u8>> {
    let parts: BTreeSet<&[u8]> = names.map(folder_part).collect();
    parts.into_iter().map(<[u8]>::to_vec).collect()
}

pub(super) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

pub(super) fn bytes_of(path: impl Into<OsString>) -> Vec<u8> {
    path.into().into_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_during_a_run_is_not_settled() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old.h"), folder.path().join("new.h"));
        std::fs::write(&old, "int x;").unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let disk = Disk::new();
        assert!(disk.folder(folder.path()).unwrap().settled);
        std::fs::write(&new, "int y;").unwrap();
        assert!(disk.file(&old).unwrap().settled);
        assert!(!disk.file(&new).unwrap().settled);
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        assert!(!disk.folder(&folder.path().join("sub")).unwrap().settled);
        assert!(disk.file(&folder.path().join("none.h")).is_none());
    }
}
