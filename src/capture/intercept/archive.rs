//! What one call of an archiver does to an archive.
//!
//! In: the words of its command line. Out: [`Edit`]s. Scripts of `ar -M` are not read: the standard input
//! is the archiver's.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::capture::command::{RESPONSE_DEPTH, expand_response_files};

/// A change of an archive's members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Absolute.
    pub archive: PathBuf,
    pub change: Change,
    /// Members added, absolute, or the names of members that go.
    pub files: Vec<PathBuf>,
    /// Archives that are added give their members.
    pub flattens: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// `r`: a member of the same name is replaced.
    Replace,
    /// `q`
    Append,
    /// `d`
    Delete,
}

/// What the call changes; `None` if it changes nothing.
pub fn parse(arguments: &[OsString], directory: &Path) -> Option<Edit> {
    let mut unread = Vec::new();
    let arguments =
        expand_response_files(arguments.to_vec(), directory, RESPONSE_DEPTH, &mut unread);
    let mut operation: Option<&[u8]> = None;
    let mut operands: Vec<&OsStr> = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let bytes = word.as_bytes();
        match bytes {
            b"--target" | b"--plugin" | b"--output" | b"--record-libdeps" => drop(words.next()),
            _ if bytes.starts_with(b"--") => {}
            _ if operation.is_none() => {
                operation = Some(bytes.strip_prefix(b"-").unwrap_or(bytes));
            }
            // Further options, such as `-rc -s`.
            _ if bytes.starts_with(b"-") && operands.is_empty() => {}
            _ => operands.push(word),
        }
    }
    let operation = operation?;
    let holds = |letter: u8| operation.contains(&letter);
    let change = match () {
        () if holds(b'd') => Change::Delete,
        () if holds(b'q') => Change::Append,
        () if holds(b'r') => Change::Replace,
        () => return None,
    };
    // A member's place (`a`, `b`, `i`) or the count of an instance (`N`) comes before the archive.
    let skipped = usize::from(b"abiN".iter().any(|letter| holds(*letter)));
    let (archive, files) = operands.get(skipped..)?.split_first()?;
    let files = files.iter().map(|file| match change {
        Change::Delete => PathBuf::from(file),
        Change::Replace | Change::Append => directory.join(file),
    });
    Some(Edit {
        archive: directory.join(archive),
        change,
        files: files.collect(),
        flattens: holds(b'L'),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_and_taken_away_is_known() {
        let edit = |line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let edit = parse(&words, Path::new("/w"))?;
            let files = edit.files.iter().map(|file| file.display().to_string());
            let files: Vec<String> = files.collect();
            Some((
                edit.archive.display().to_string(),
                edit.change,
                files.join(" "),
            ))
        };
        let added = |change| Some(("/w/l.a".to_owned(), change, "/w/a.o /w/b/c.o".to_owned()));
        assert_eq!(edit("rcs l.a a.o b/c.o"), added(Change::Replace));
        assert_eq!(edit("-crD l.a a.o b/c.o"), added(Change::Replace));
        assert_eq!(edit("cqT l.a a.o b/c.o"), added(Change::Append));
        assert_eq!(edit("--plugin p cr l.a a.o b/c.o"), added(Change::Replace));
        assert_eq!(edit("rb x.o l.a a.o b/c.o"), added(Change::Replace));
        let gone = ("/w/l.a".to_owned(), Change::Delete, "a.o".to_owned());
        assert_eq!(edit("d l.a a.o"), Some(gone));
        assert_eq!(edit("x l.a a.o"), None);
        assert_eq!(edit("t l.a"), None);
        assert_eq!(edit("--version"), None);
    }
}
