//! Response files: `@FILE` among a compiler's words stands for those in the file.
//!
//! In: words. Out: words without any of an existing response file's. They are read here, so that no compiler
//! is handed a file with more flags.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::source::read_regular;

/// Response files may name response files, this deep.
pub(super) const RESPONSE_DEPTH: u32 = 8;

/// So many words come from the response files of one command. Files that name each other many times
/// would have no end otherwise.
const RESPONSE_WORDS: usize = 1 << 20;

/// So many files that cannot be read are told of.
const UNREAD: usize = 100;

/// No response file is longer, in bytes.
const RESPONSE_LIMIT: u64 = 1 << 26;

/// Puts the words of each `@file` in its place. A file that cannot be read is named in `unread`.
pub(super) fn expand_response_files(
    words: Vec<OsString>,
    directory: &Path,
    depth: u32,
    unread: &mut Vec<OsString>,
) -> Vec<OsString> {
    let mut budget = RESPONSE_WORDS;
    expand(words, directory, depth, &mut budget, unread)
}

fn expand(
    words: Vec<OsString>,
    directory: &Path,
    depth: u32,
    budget: &mut usize,
    unread: &mut Vec<OsString>,
) -> Vec<OsString> {
    let mut out = Vec::with_capacity(words.len());
    for word in words {
        let Some(file) = word.as_bytes().strip_prefix(b"@") else {
            out.push(word);
            continue;
        };
        let file = OsStr::from_bytes(file);
        let text = match depth > 0 && *budget > 0 {
            true => read_regular(&directory.join(file), RESPONSE_LIMIT).ok(),
            false => None,
        };
        if let Some(text) = text {
            let mut words = response_words(&text);
            words.truncate(*budget);
            *budget -= words.len();
            out.extend(expand(words, directory, depth - 1, budget, unread));
        } else if unread.len() < UNREAD && !unread.iter().any(|known| known == file) {
            unread.push(file.to_owned());
        }
    }
    out
}

/// Splits a response file as gcc does: blanks separate, both quotes group, a backslash makes the next
/// byte plain, everywhere. Unlike a shell, `#` and `$` mean nothing and a quote may stay open.
fn response_words(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (_, b'\\') => word.get_or_insert_default().extend(bytes.next()),
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(byte),
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (None, _) if byte.is_ascii_whitespace() => {
                words.extend(word.take().map(OsString::from_vec));
            }
            (None, _) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word.map(OsString::from_vec));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a line in a folder with files, and the response files that were not read.
    fn expanded(files: &[(&str, &str)], line: &str) -> (Vec<OsString>, Vec<OsString>) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let words = line.split(' ').map(OsString::from).collect();
        let mut unread = Vec::new();
        let words = expand_response_files(words, folder.path(), RESPONSE_DEPTH, &mut unread);
        (words, unread)
    }

    #[test]
    fn response_files_are_read_with_gcc_quoting() {
        let text = "-DA=\\\"x\\\" '-DB=a b'\n\"-DC=it's\" -DD=# @inner ''";
        let files = [("inner", "-DIN=1"), ("flags", text)];
        let (words, unread) = expanded(&files, "@flags @gone -c");
        let expected = [
            "-DA=\"x\"",
            "-DB=a b",
            "-DC=it's",
            "-DD=#",
            "-DIN=1",
            "",
            "-c",
        ];
        assert_eq!(words, expected);
        assert_eq!(unread, ["gone"]);
    }

    #[test]
    fn a_response_file_that_names_itself_ends() {
        let (words, unread) = expanded(&[("f", "-DA @f")], "@f");
        assert_eq!(
            (words.len(), unread),
            (RESPONSE_DEPTH as usize, vec!["f".into()])
        );
        // Each names the other a thousand times over.
        let (words, _) = expanded(&[("f", &"-DA @f ".repeat(1000))], "@f");
        assert!(words.len() <= RESPONSE_WORDS);
    }
}
