//! What several tests need: trees of files to work on, and tools of the machine.

use std::fs;

use tempfile::TempDir;

/// A folder with these files, by path and text.
pub fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// Tells that something is not compared because a tool is missing. In continuous integration (`CI` is set), which installs what it
/// needs, that is a failure.
#[track_caller]
pub fn missing(tool: &str) {
    assert!(std::env::var_os("CI").is_none(), "no {tool}");
    eprintln!("no {tool}: not compared");
}
