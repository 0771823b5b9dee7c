//! Names for the numbers in a function's summary, from the texts that they come from.
//!
//! In: a function of the last run, its body and its callees', and the source files as they are now. Out: which name the source has for which
//! number, beside which place. Without the files numbers stay numbers.

mod macros;
mod text;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::Body;
use crate::report::summary::constants::{Constants, RESULT};
use crate::source::{Sources, read_regular};
use crate::store::Bodies;
use crate::store::query::{FunctionRow, Reader, open_bodies};
use macros::Macros;

/// Functions that are told at once with names for numbers: for each, the headers of its unit are read.
pub const MAX_FUNCTIONS: usize = 8;
/// Callees whose texts are looked at, and how many calls down.
const MAX_CALLEES: usize = 64;
const MAX_CALLS: u32 = 3;
/// Macros with parameters whose texts are looked at, of one function.
const MAX_MACROS: usize = 64;
/// Files of a unit that macros are looked for in, and their bytes together.
const MAX_FILES: usize = 5_000;
const MAX_FILE: u64 = 8 << 20;
const MAX_BYTES: usize = 64 << 20;

/// The names that a function and its callees have for numbers. What cannot be read has none.
pub fn constants(reader: &Reader, folder: &Path, root: &Path, row: &FunctionRow) -> Constants {
    named(reader, folder, root, row).unwrap_or_default()
}

/// A function's text, and what is known of it.
struct Text {
    body: Arc<Body>,
    text: String,
    /// Its results are those of the function that is asked for.
    answers: bool,
}

fn named(reader: &Reader, folder: &Path, root: &Path, row: &FunctionRow) -> Option<Constants> {
    let bodies = open_bodies(folder).ok()?;
    let mut sources = Sources::default();
    let mut read = |row: &FunctionRow| text_of(&bodies, &mut sources, root, row);
    let mut texts: Vec<Text> = read(row).into_iter().collect();
    let own = texts.len();
    texts.extend(callees(reader, row).iter().filter_map(read));
    tell_answers(&mut texts);
    let known: FxHashMap<&str, i128> = texts
        .iter()
        .flat_map(|text| &text.body.spellings.constants)
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    let files = files(reader, root, &row.file);
    let mut macros = Macros::default();
    files.iter().for_each(|file| macros.add(file));
    let mut constants = Constants::default();
    for (index, text) in texts.iter().enumerate() {
        let mut pairs = text::pairs(&text.text);
        for expanded in expanded(&text.text, &macros) {
            let inside = text::pairs(expanded);
            pairs.extend(text::pairs_of_uses(&text.text, expanded, &inside));
            pairs.extend(inside);
        }
        for (place, name) in pairs
            .iter()
            .filter(|(place, _)| text.answers || place != RESULT)
        {
            let (minus, plain) = match name.strip_prefix('-') {
                Some(plain) => (true, plain),
                None => (false, name.as_str()),
            };
            let value = macros.value(plain, &known);
            let value = value.and_then(|value| match minus {
                true => value.checked_neg(),
                false => Some(value),
            });
            if let Some(value) = value {
                constants.add(index < own, place, name, value);
            }
        }
    }
    Some(constants)
}

/// Finds whose results the first text hands on, those of texts that do so among them.
fn tell_answers(texts: &mut [Text]) {
    let mut told: Vec<usize> = (0..texts.len().min(1)).collect();
    while let Some(at) = told.pop() {
        texts[at].answers = true;
        let answering = text::answering(&texts[at].text);
        let more = (0..texts.len()).filter(|&other| {
            !texts[other].answers && answering.contains(texts[other].body.name.name.as_str())
        });
        told.extend(more.collect::<Vec<_>>());
    }
}

/// The texts of the macros with parameters that a text uses, and that those use.
fn expanded<'t>(text: &str, macros: &Macros<'t>) -> Vec<&'t str> {
    let mut found: Vec<&str> = Vec::new();
    let mut from = 0;
    let mut used = text::called(text);
    for _ in 0..MAX_CALLS {
        let texts = used.iter().filter_map(|name| macros.call(name));
        let new: Vec<&str> = texts.filter(|text| !found.contains(text)).collect();
        found.extend(new);
        found.truncate(MAX_MACROS);
        used = found[from..]
            .iter()
            .flat_map(|text| text::called(text))
            .collect();
        from = found.len();
    }
    found
}

/// What a function's text has, if its file can be read.
fn text_of(bodies: &Bodies, sources: &mut Sources, root: &Path, row: &FunctionRow) -> Option<Text> {
    let body = bodies.get(row.body?)?;
    let lines = sources.lines(root, &row.file)?;
    let (first, last) = (body.pos.line as usize, body.end_line as usize);
    let lines = lines.get(first.checked_sub(1)?..last.min(lines.len()))?;
    Some(Text {
        body,
        text: lines.join("\n"),
        answers: false,
    })
}

/// The functions that a function calls, the nearest first.
fn callees(reader: &Reader, row: &FunctionRow) -> Vec<FunctionRow> {
    let mut seen = FxHashSet::from_iter([row.id]);
    let mut found = Vec::new();
    let mut last = vec![row.id];
    for _ in 0..MAX_CALLS {
        let mut next = Vec::new();
        for id in last {
            let called = reader.called(id).unwrap_or_default();
            for callee in called.into_iter().filter_map(|(_, callee)| callee) {
                if found.len() >= MAX_CALLEES {
                    return found;
                }
                if seen.insert(callee.id) {
                    next.push(callee.id);
                    found.push(callee);
                }
            }
        }
        last = next;
    }
    found
}

/// The texts of the files that a unit with this file was made of, or of the file and what it includes from folders around.
fn files(reader: &Reader, root: &Path, file: &str) -> Vec<String> {
    // The files of units are kept under their tree's real path.
    let root = &root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let own = root.join(file);
    let paths = reader.files_of_unit_with(&own).unwrap_or_default();
    let mut texts = Vec::new();
    let mut bytes = 0;
    let mut seen = BTreeSet::new();
    let mut wanted = match paths.is_empty() {
        true => vec![own],
        false => paths.clone(),
    };
    wanted.truncate(MAX_FILES);
    wanted.reverse();
    while let Some(path) = wanted.pop() {
        if !seen.insert(path.clone()) || texts.len() >= MAX_FILES {
            continue;
        }
        let Ok(content) = read_regular(&path, MAX_FILE) else {
            continue;
        };
        bytes += content.len();
        if bytes > MAX_BYTES {
            break;
        }
        let text = String::from_utf8_lossy(&content).into_owned();
        if paths.is_empty() {
            let beside = path.parent().unwrap_or(root);
            for name in text.lines().filter_map(included) {
                wanted.extend([
                    beside.join(name),
                    root.join(name),
                    root.join("include").join(name),
                ]);
            }
        }
        texts.push(text);
    }
    texts
}

/// The file that a line includes by its name in quotes.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("include")?.trim_start();
    let name = rest.strip_prefix('"')?;
    Some(&name[..name.find('"')?])
}
