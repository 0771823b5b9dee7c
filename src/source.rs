//! The text of the source files that findings lie in, and the reading of files that a tree names.
//!
//! In: the tree's root, a file and a line. Out: the line as it is in the file, for quoting and for what the source
//! states in words that the preprocessor takes out.

mod inert;
mod regular;

use std::collections::BTreeMap;
use std::path::Path;

pub use inert::{Inert, inert, is_inert};
pub use regular::{LIMIT, read_regular};

/// The lines of the source files that findings lie in, read once.
#[derive(Default)]
pub struct Sources {
    files: BTreeMap<String, Option<Vec<String>>>,
}

impl Sources {
    /// All lines of a file, if it can be read.
    pub fn lines(&mut self, root: &Path, file: &str) -> Option<&[String]> {
        let lines = self.files.entry(file.to_owned()).or_insert_with(|| {
            let bytes = read_regular(&root.join(file), LIMIT).ok()?;
            let text = String::from_utf8_lossy(&bytes);
            Some(text.lines().map(str::to_owned).collect())
        });
        lines.as_deref()
    }

    /// The text of a 1-based line, if the file can be read.
    pub fn line(&mut self, root: &Path, file: &str, line: u32) -> Option<&str> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        self.lines(root, file)?.get(index).map(String::as_str)
    }
}
