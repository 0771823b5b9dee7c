//! Entries of a compile_commands.json, as they are written.
//!
//! In: the calls that were noted. Out: one [`Entry`] for each C file that a call compiles, in the
//! `arguments` form, sorted, each once.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::folder::Call;
use super::interceptor::is_test;
use super::invocation::Invocation;
use crate::capture::tree::normalise;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Entry {
    /// The source, absolute.
    pub file: String,
    pub directory: String,
    pub arguments: Vec<String>,
}

/// The entries of calls of a build started in `start`, and how many calls were left out because their source is gone.
pub fn of_calls(calls: &[Call], start: &Path) -> (Vec<Entry>, usize) {
    let mut entries = BTreeSet::new();
    let mut gone = 0;
    for call in calls {
        match of_call(call, start) {
            Some(entry) => {
                entries.insert(entry);
            }
            None => gone += 1,
        }
    }
    (entries.into_iter().collect(), gone)
}

/// A note holds one source. Words that are no UTF-8 cannot be written as they are.
fn of_call(call: &Call, start: &Path) -> Option<Entry> {
    let directory = call.directory();
    let parsed = Invocation::parse(&call.words(), directory)?;
    let source = parsed.sources().next()?;
    let file = normalise(&directory.join(parsed.spelling(source)));
    if !file.is_file() || is_test(&file, start) {
        return None;
    }
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let words = call.words();
    Some(Entry {
        file: text(&file),
        directory: text(directory),
        arguments: words
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
    })
}

/// Reads entries that [`write`] wrote.
pub fn read(file: &Path) -> io::Result<Vec<Entry>> {
    let text = std::fs::read(file)?;
    serde_json::from_slice(&text).map_err(io::Error::other)
}

/// Writes a compile_commands.json, an entry to a few lines.
pub fn write(out: &mut dyn Write, entries: &[Entry]) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, entries)?;
    writeln!(out)
}
