//! Entries of a compile_commands.json, as they are written.
//!
//! In: the calls that were noted. Out: one [`Entry`] for each C file that a call compiles, in the
//! `arguments` form, sorted, each once.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::event::place;
use super::folder::{Call, Id};
use super::interceptor::{is_test, is_tried};
use super::invocation::Invocation;
use crate::capture::tree::normalise;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Entry {
    /// The source, absolute.
    pub file: String,
    pub directory: String,
    pub arguments: Vec<String>,
    /// The file that the call makes of the source, absolute; none if the same command links it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// The entries of calls of a build started in `start`, and how many calls were left out because their source is gone.
pub fn of_calls(calls: &[(Id, Call)], start: &Path) -> (Vec<Entry>, usize) {
    let mut entries = BTreeSet::new();
    let mut gone = 0;
    for (_, call) in calls {
        match of_call(call, start) {
            Made::Entry(entry) => {
                entries.insert(*entry);
            }
            Made::Gone => gone += 1,
            Made::NotC => {}
        }
    }
    (entries.into_iter().collect(), gone)
}

enum Made {
    Entry(Box<Entry>),
    Gone,
    NotC,
}

/// A note holds one source. Words that are no UTF-8 cannot be written as they are.
fn of_call(call: &Call, start: &Path) -> Made {
    let directory = call.directory();
    let words = call.words();
    let parsed = Invocation::parse(&words, directory);
    let Some((parsed, source)) = parsed
        .as_ref()
        .and_then(|parsed| Some((parsed, parsed.sources().next()?)))
    else {
        return Made::NotC;
    };
    let file = normalise(&directory.join(parsed.spelling(source)));
    if !file.is_file() || is_test(&file, start) || is_tried(directory) {
        return Made::Gone;
    }
    let text = |path: &Path| path.to_string_lossy().into_owned();
    Made::Entry(Box::new(Entry {
        file: text(&file),
        directory: text(directory),
        arguments: words
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        output: parsed
            .made(source)
            .map(|made| text(&place(&directory.join(made)))),
    }))
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
