//! Stand-ins for headers that cannot be found.
//!
//! In: the name in an `#include` that failed. Out: a file by that name in a folder of the unit's own,
//! searched last: empty, or what can be made of the header's template (`config.h.in`). Each unit has
//! its own folder, so that no unit's `__has_include` sees what another unit lacked.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use parking_lot::Mutex;

use crate::leftovers;

/// Marks the stand-ins' folders in paths, for [`shown`].
const MARK: &str = "cassini-missing-";

/// Stands for the stand-ins' folder in text and in what people read.
const MISSING: &str = "<missing>";

/// So many folders lie between a unit's folder and the one that is searched, so that `../x.h` stays inside.
const DEPTH: usize = 8;

/// The stand-ins of one unit.
pub(super) struct StandIns {
    folder: leftovers::Folder,
    /// What was added.
    added: Mutex<Vec<PathBuf>>,
}

impl StandIns {
    /// Makes a folder within another one.
    pub(super) fn new(within: &Path) -> io::Result<Self> {
        let folder = leftovers::Folder::create(MARK, within)?;
        let added = Mutex::default();
        let stand_ins = StandIns { folder, added };
        fs::create_dir_all(stand_ins.search())?;
        Ok(stand_ins)
    }

    /// The stand-ins of a unit, made when the first is needed.
    pub(super) fn get<'s>(
        stand_ins: &'s mut Option<StandIns>,
        within: &Path,
    ) -> io::Result<&'s StandIns> {
        Ok(match stand_ins {
            Some(folder) => folder,
            none => none.insert(StandIns::new(within)?),
        })
    }

    /// Whether all that was added is still there: the folder may be removed under a run.
    pub(super) fn are_there(&self) -> bool {
        self.search().is_dir() && self.added.lock().iter().all(|path| path.is_file())
    }

    /// The folder to search.
    pub(super) fn search(&self) -> PathBuf {
        self.folder.path().join(["d"; DEPTH].join("/"))
    }

    /// Takes the folder's name, which differs from run to run, out of a preprocessed text.
    pub(super) fn anonymise(&self, text: Vec<u8>) -> Vec<u8> {
        let folder = self.folder.path().as_os_str().as_bytes();
        let mut out = Vec::with_capacity(text.len());
        let mut copied = 0;
        for start in memchr::memmem::find_iter(&text, folder) {
            out.extend_from_slice(&text[copied..start]);
            out.extend_from_slice(MISSING.as_bytes());
            copied = start + folder.len();
        }
        out.extend_from_slice(&text[copied..]);
        out
    }

    /// Makes `name` exist with this text. False if it does already, or cannot.
    pub(super) fn add(&self, name: &Path, text: &str) -> io::Result<bool> {
        let mut path = self.search();
        let mut depth = DEPTH;
        let mut components = name.components().peekable();
        while let Some(component) = components.next() {
            match component {
                Component::CurDir => {}
                Component::ParentDir if depth > 0 => {
                    path.pop();
                    depth -= 1;
                }
                Component::Normal(part) => {
                    path.push(part);
                    depth += 1;
                    // `a/../b.h` needs `a` to exist.
                    if components.peek().is_some() {
                        fs::create_dir_all(&path)?;
                    }
                }
                _ => return Ok(false),
            }
        }
        match fs::File::create_new(&path) {
            Ok(mut file) => {
                io::Write::write_all(&mut file, text.as_bytes())?;
                self.added.lock().push(path);
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// How a stand-in is named to people; `None` if the path is none.
pub(super) fn shown(path: &str) -> Option<String> {
    let name = match path.strip_prefix(MISSING) {
        Some(name) => name.strip_prefix('/')?,
        None => path.split_once(MARK)?.1.split_once('/')?.1,
    };
    Some(format!("{MISSING}/{}", name.trim_start_matches("d/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_stay_in_their_folder() {
        let stand_ins = StandIns::new(&std::env::temp_dir()).unwrap();
        assert!(stand_ins.add(Path::new("a/../b/c.h"), "x").unwrap());
        assert!(
            !stand_ins.add(Path::new("b/c.h"), "y").unwrap(),
            "there already"
        );
        assert_eq!(
            fs::read_to_string(stand_ins.search().join("b/c.h")).unwrap(),
            "x"
        );
        assert!(stand_ins.add(Path::new("../../up.h"), "").unwrap());
        assert!(stand_ins.search().join("../../up.h").is_file());
        assert!(
            !stand_ins
                .add(
                    Path::new(&"../".repeat(DEPTH + 1)).join("x.h").as_path(),
                    ""
                )
                .unwrap()
        );
        assert!(!stand_ins.add(Path::new("/etc/x.h"), "").unwrap());
    }

    #[test]
    fn a_stand_in_is_shown_without_its_place() {
        let stand_ins = StandIns::new(&std::env::temp_dir()).unwrap();
        let path = stand_ins.search().join("a/b.h");
        assert_eq!(
            shown(path.to_str().unwrap()).as_deref(),
            Some("<missing>/a/b.h")
        );
        assert_eq!(shown("/usr/include/stdio.h"), None);
        let text = stand_ins.anonymise(format!("# 1 \"{}\"\nint a;", path.display()).into());
        let marker = "# 1 \"<missing>/d/d/d/d/d/d/d/d/a/b.h\"\nint a;";
        assert_eq!(String::from_utf8(text).unwrap(), marker);
        assert_eq!(
            shown("<missing>/d/d/a/b.h").as_deref(),
            Some("<missing>/a/b.h")
        );
    }
}
