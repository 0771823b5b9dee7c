//! Compile commands from a compile_commands.json (clang's JSON compilation database).
//!
//! In: the database's path and the tree. Out: the commands of the C files under the tree, each once.
//! An entry that cannot be used is reported with its index and line; the others are unharmed, also
//! those before the place where a file breaks off.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::command::{self, CompileCommand, Refused};
use super::links::Objects;
use super::tree::normalise;
use super::{Place, Problem, Scope, Severity, Tree};
use crate::source::read_regular;

pub(super) const FILE_NAME: &str = "compile_commands.json";

/// No database is longer, in bytes: that of a browser has some hundred megabytes.
const DATABASE_LIMIT: u64 = 1 << 31;

/// Folders of a tree that builds commonly go to, by the beginnings of their names.
const BUILD_FOLDERS: &[&str] = &[
    "build",
    "_build",
    ".build",
    "cmake-build",
    "out",
    "obj",
    "debug",
    "release",
];

/// One entry, as the format has it.
#[derive(Deserialize)]
struct Entry {
    directory: Option<String>,
    file: String,
    command: Option<String>,
    arguments: Option<Vec<String>>,
    /// What the command writes.
    output: Option<String>,
}

/// The databases that may describe the tree at `root`, best first: the tree's own, those in its build
/// folders, then the same of each folder above.
pub(super) fn candidates(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in root.ancestors() {
        let mut folders = vec![folder.to_path_buf()];
        let mut builds: Vec<PathBuf> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| {
                let name = entry.file_name().to_string_lossy().to_lowercase();
                BUILD_FOLDERS.iter().any(|start| name.starts_with(start))
            })
            .map(|entry| entry.path())
            .collect();
        builds.sort();
        folders.extend(builds);
        found.extend(
            folders
                .iter()
                .map(|folder| folder.join(FILE_NAME))
                .filter(|file| file.is_file()),
        );
    }
    found
}

/// Reads the commands of the C files in `scope` from a database, and what they write. The error is for a
/// database of which nothing can be used.
pub(super) fn read(
    database: &Path,
    tree: &Tree,
    scope: &Scope,
    problems: &mut Vec<Problem>,
) -> Result<(Vec<CompileCommand>, Objects), Problem> {
    let text = text_of(database)?;
    let (entries, broken) = split(&text);
    if let Some(error) = broken {
        let place = at(database, (error.line(), error.column()));
        let problem = Problem::new(Severity::Error, Some(place), reason(&error));
        if entries.is_empty() {
            return Err(problem);
        }
        problems.push(problem);
    }

    let mut reader = Reader {
        database,
        tree,
        scope,
        seen: HashMap::new(),
        objects: Objects::default(),
        not_c: BTreeMap::new(),
        doubtful: BTreeMap::new(),
        problems,
    };
    let base = text.as_ptr() as usize;
    let mut line = Line {
        text: text.as_bytes(),
        offset: 0,
        line: 1,
    };
    let mut parsed = Vec::with_capacity(entries.len());
    for raw in entries {
        let place = at(database, (line.of(raw.get().as_ptr() as usize - base), 0));
        let entry: Result<Entry, _> = serde_json::from_str(raw.get());
        parsed.push((place, entry.map_err(|error| reason(&error))));
    }
    let moved = Moved::find(
        database,
        parsed.iter().filter_map(|(_, entry)| entry.as_ref().ok()),
    );
    if let Some(moved) = &moved {
        for (_, entry) in &mut parsed {
            if let Ok(entry) = entry {
                moved.apply(entry);
            }
        }
        let message = format!("it was recorded in {}; read as of {}", moved.from, moved.to);
        reader
            .problems
            .push(Problem::about(Severity::Warning, database, message));
    }
    let mut commands = Vec::new();
    reader.objects.moved = moved;
    for (index, (place, entry)) in parsed.into_iter().enumerate() {
        match entry.and_then(|entry| reader.command(entry)) {
            Ok(command) => commands.extend(command),
            Err(message) => {
                let message = format!("entry {index}: {message}");
                reader
                    .problems
                    .push(Problem::new(Severity::Error, Some(place), message));
            }
        }
    }
    let Reader {
        not_c,
        doubtful,
        objects,
        ..
    } = reader;
    tell_left_out(database, doubtful, &not_c, problems);
    Ok((commands, objects))
}

fn text_of(database: &Path) -> Result<String, Problem> {
    let about = |message| Problem::about(Severity::Error, database, message);
    // A person may name a pipe.
    let text = match database.is_file() {
        true => read_regular(database, DATABASE_LIMIT),
        false => fs::read(database),
    };
    let text = text.map_err(|error| about(error.to_string()))?;
    String::from_utf8(text).map_err(|error| {
        let place = position(error.as_bytes(), error.utf8_error().valid_up_to());
        Problem::new(Severity::Error, Some(at(database, place)), "not UTF-8")
    })
}

/// Says which flags were left out of how many commands, and which entries are of other languages.
fn tell_left_out(
    database: &Path,
    doubtful: BTreeMap<String, usize>,
    not_c: &BTreeMap<String, usize>,
    problems: &mut Vec<Problem>,
) {
    problems.extend(doubtful.into_iter().map(|(flag, count)| {
        let message = format!(
            "{flag} is not known to be harmless and was left out of {count} commands; --trust-tree \
             keeps it"
        );
        Problem::about(Severity::Warning, database, message)
    }));
    if !not_c.is_empty() {
        let kinds: Vec<String> = not_c
            .iter()
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        let message = format!("entries that are not C were left out: {}", kinds.join(", "));
        problems.push(Problem::about(Severity::Note, database, message));
    }
}

/// The elements of the database's array, up to where it breaks off if it does.
fn split(text: &str) -> (Vec<&RawValue>, Option<serde_json::Error>) {
    struct Elements<'a, 'de>(&'a mut Vec<&'de RawValue>);
    impl<'de> DeserializeSeed<'de> for Elements<'_, 'de> {
        type Value = ();
        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_seq(self)
        }
    }
    impl<'de> Visitor<'de> for Elements<'_, 'de> {
        type Value = ();
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an array of compile commands")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
            while let Some(element) = elements.next_element()? {
                self.0.push(element);
            }
            Ok(())
        }
    }
    let mut entries = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let result = Elements(&mut entries)
        .deserialize(&mut deserializer)
        .and_then(|()| deserializer.end());
    (entries, result.err())
}

/// What reading the entries of one database shares.
struct Reader<'a> {
    database: &'a Path,
    tree: &'a Tree,
    /// Where the wanted sources lie.
    scope: &'a Scope,
    /// The commands found so far, with their numbers.
    seen: HashMap<CompileCommand, usize>,
    objects: Objects,
    /// Entries of other languages, by the end of their file's name.
    not_c: BTreeMap<String, usize>,
    /// Flags that might do harm, and in how many commands they are.
    doubtful: BTreeMap<String, usize>,
    problems: &'a mut Vec<Problem>,
}

impl Reader<'_> {
    /// The command of one entry; `None` when it is not wanted. The error is for a person.
    fn command(&mut self, entry: Entry) -> Result<Option<CompileCommand>, String> {
        let here = self.database.parent().unwrap_or(Path::new("/"));
        let directory = normalise(&here.join(entry.directory.as_deref().unwrap_or("")));
        let file = Path::new(&entry.file);
        let source = normalise(&directory.join(file));
        if !self.scope.wants(&source) {
            return Ok(None);
        }
        let words: Vec<OsString> = match (entry.arguments, entry.command) {
            (Some(arguments), _) => arguments.into_iter().map(OsString::from).collect(),
            (None, Some(command)) => {
                shell_words(&command).ok_or("the command has an unclosed quote")?
            }
            (None, None) => return Err("neither `command` nor `arguments`".to_owned()),
        };
        let output = entry
            .output
            .or_else(|| output_of(&words))
            .map(PathBuf::from);
        let output = output.or_else(|| Some(Path::new(file.file_name()?).with_extension("o")));
        let parsed = match command::parse(words, &directory, file, self.tree.foreign().trusted()) {
            Ok(parsed) => parsed,
            Err(Refused::NotC) => {
                let kind = file.extension().map_or_else(
                    || "without an extension".to_owned(),
                    |extension| format!(".{}", extension.to_string_lossy()),
                );
                *self.not_c.entry(kind).or_default() += 1;
                return Ok(None);
            }
            Err(Refused::NoCompiler) => return Err("the command is empty".to_owned()),
        };
        if !source.is_file() {
            return Err(format!("{} does not exist", source.display()));
        }
        for flag in parsed.doubtful {
            *self.doubtful.entry(flag).or_default() += 1;
        }
        for file in parsed.unread {
            let message = format!(
                "response file {} cannot be read; going on without it",
                file.display()
            );
            self.problems
                .push(Problem::about(Severity::Warning, &source, message));
        }
        let command = CompileCommand {
            name: self.tree.name_path(&source).shown,
            spelling: parsed.spelling.unwrap_or_else(|| entry.file.into()),
            source,
            directory,
            compiler: parsed.compiler,
            arguments: parsed.arguments,
            guessed: false,
            ungenerated: Vec::new(),
            optional: Vec::new(),
        };
        let next = self.seen.len();
        let number = *self.seen.entry(command.clone()).or_insert(next);
        if let Some(output) = output {
            let output = normalise(&command.directory.join(output));
            self.objects.outputs.insert(output, number);
        }
        Ok((number == next).then_some(command))
    }
}

/// A tree that has moved, or was copied, since its database was recorded.
#[derive(Debug)]
pub(super) struct Moved {
    from: String,
    to: String,
}

impl Moved {
    /// Where the tree was, if none of its files is there any more but one is found by the end of its
    /// path near the database.
    fn find<'a>(
        database: &Path,
        entries: impl Iterator<Item = &'a Entry> + Clone,
    ) -> Option<Moved> {
        let here = database.parent()?;
        let sources = entries.map(|entry| {
            let directory = here.join(entry.directory.as_deref().unwrap_or(""));
            normalise(&directory.join(&entry.file))
        });
        if sources.clone().any(|source| source.exists()) {
            return None;
        }
        sources.take(100).find_map(|source| {
            // The longest end of the path first, then the database's folder before those above it.
            source
                .ancestors()
                .skip(1)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .skip(1)
                .find_map(|from| {
                    let rest = source.strip_prefix(from).ok()?;
                    let to = here
                        .ancestors()
                        .take(3)
                        .find(|to| to.join(rest).is_file())?;
                    Some(Moved {
                        from: from.to_str()?.to_owned(),
                        to: to.to_str()?.to_owned(),
                    })
                })
        })
    }

    fn apply(&self, entry: &mut Entry) {
        let texts = [
            Some(&mut entry.file),
            entry.directory.as_mut(),
            entry.command.as_mut(),
            entry.output.as_mut(),
        ];
        let arguments = entry.arguments.iter_mut().flatten();
        for text in texts.into_iter().flatten().chain(arguments) {
            *text = self.replace(text);
        }
    }

    /// `text` with each path below the old place in the new one.
    pub(super) fn replace(&self, text: &str) -> String {
        let in_a_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        for (start, found) in text.match_indices(&self.from) {
            let end = start + found.len();
            if !text
                .as_bytes()
                .get(end)
                .is_some_and(|&next| in_a_name(next))
            {
                out.push_str(&text[copied..start]);
                out.push_str(&self.to);
                copied = end;
            }
        }
        out + &text[copied..]
    }
}

/// What a command says that it writes.
fn output_of(words: &[OsString]) -> Option<String> {
    let separate = words.iter().position(|word| word == "-o");
    let separate = separate.and_then(|at| words.get(at + 1)?.to_str());
    let joined = || {
        let mut words = words.iter().filter_map(|word| word.to_str());
        words.find_map(|word| word.strip_prefix("-o").filter(|rest| !rest.is_empty()))
    };
    separate.or_else(joined).map(str::to_owned)
}

/// Splits a `command` as a POSIX shell does. `None` if a quote stays open.
fn shell_words(command: &str) -> Option<Vec<OsString>> {
    let mut words = shlex::bytes::Shlex::new(command.as_bytes());
    let split = words.by_ref().map(OsString::from_vec).collect();
    (!words.had_error).then_some(split)
}

/// What is wrong, without the place, which for an entry would count from the entry's start.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message,
    }
}

fn at(file: &Path, (line, column): (usize, usize)) -> Place {
    let number = |value| u32::try_from(value).unwrap_or(0);
    Place {
        file: file.display().to_string(),
        line: number(line),
        column: number(column),
    }
}

/// 1-based line and column of an offset.
fn position(text: &[u8], offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    (line, offset - start + 1)
}

/// Counts lines up to growing offsets.
struct Line<'a> {
    text: &'a [u8],
    offset: usize,
    line: usize,
}

impl Line<'_> {
    fn of(&mut self, offset: usize) -> usize {
        self.line += memchr::memchr_iter(b'\n', &self.text[self.offset..offset]).count();
        self.offset = offset;
        self.line
    }
}

#[cfg(test)]
mod tests;
