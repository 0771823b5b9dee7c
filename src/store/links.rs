//! Symbolic links in the database's folder, which may come with a tree.
//!
//! In: the folder. Out: an error if it, or anything in it, is a link: what is written to it would be written
//! elsewhere. Cassini makes none.

use std::fs;
use std::path::Path;

use super::StoreError;

/// Fails if something in the folder is a symbolic link; or the folder itself, unless it was `named` by the
/// user.
pub fn refuse_links(folder: &Path, named: bool) -> Result<(), StoreError> {
    let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|data| data.is_symlink());
    if !named && is_link(folder) {
        return Err(StoreError::Link(folder.to_owned()));
    }
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        // A folder that is not there, or cannot be read, is told of where it is used.
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if is_link(&path) {
                return Err(StoreError::Link(path));
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_refused_wherever_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("db/bodies")).unwrap();
        symlink(at("db"), at("link")).unwrap();
        assert!(refuse_links(&at("db"), false).is_ok());
        assert!(refuse_links(&at("gone"), false).is_ok());
        assert!(refuse_links(&at("link"), true).is_ok());
        assert!(refuse_links(&at("link"), false).is_err());
        symlink("/nowhere", at("db/bodies/x")).unwrap();
        for (name, named) in [("db", false), ("link", true)] {
            let error = refuse_links(&at(name), named).unwrap_err().to_string();
            assert!(error.contains("bodies/x is a symbolic link"), "{error}");
        }
    }
}
