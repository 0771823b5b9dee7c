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
    let about = |message| Problem::about(Severity::Error, database, message);
    // A person may name a pipe.
    let text = match database.is_file() {
        true => read_regular(database, DATABASE_LIMIT),
        false => fs::read(database),
    };
    let text = text.map_err(|error| about(error.to_string()))?;
    let text = String::from_utf8(text).map_err(|error| {
        let place = position(error.as_bytes(), error.utf8_error().valid_up_to());
        Problem::new(Severity::Error, Some(at(database, place)), "not UTF-8")
    })?;
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
    Ok((commands, objects))
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
mod tests {
    use super::*;
    use tempfile::TempDir;

    /// A tree with `files`, all empty, and a database.
    fn tree(files: &[&str], database: &str) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        fs::write(folder.path().join(FILE_NAME), database).unwrap();
        folder
    }

    fn read_at(folder: &Path, scope: &str) -> (Result<Vec<CompileCommand>, Problem>, Vec<String>) {
        let scope = Scope::new(&[folder.join(scope)]).unwrap();
        let tree = Tree::of(&scope).unwrap();
        let mut problems = Vec::new();
        let commands = read(&folder.join(FILE_NAME), &tree, &scope, &mut problems);
        let commands = commands.map(|(commands, _)| commands);
        let prefix = format!("{}/", folder.display());
        (
            commands,
            problems
                .iter()
                .map(|problem| problem.to_string().replace(&prefix, ""))
                .collect(),
        )
    }

    fn names(commands: &[CompileCommand]) -> Vec<&str> {
        commands
            .iter()
            .map(|command| command.name.as_str())
            .collect()
    }

    #[test]
    fn reads_both_forms_with_odd_quoting_and_relative_paths() {
        let folder = tree(
            &["src/a.c", "src/b.c"],
            r#"[
              {"directory": "src", "file": "a.c",
               "command": "gcc -DN='\"net/tso\"' \"-DB=a b\" -DC=\\\"x\\\" -I'in c' -c a.c -o a.o"},
              {"directory": ".", "file": "./src/b.c", "arguments": ["cc", "-DN=\"q\" r", "-c", "src/b.c"]}
            ]"#,
        );
        let (commands, problems) = read_at(folder.path(), ".");
        let commands = commands.unwrap();
        assert_eq!(names(&commands), ["src/a.c", "src/b.c"]);
        assert_eq!(
            commands[0].arguments,
            ["-DN=\"net/tso\"", "-DB=a b", "-DC=\"x\"", "-Iin c"]
        );
        assert_eq!(commands[0].directory, folder.path().join("src"));
        assert_eq!(commands[1].arguments, ["-DN=\"q\" r"]);
        assert_eq!(commands[1].spelling, "src/b.c");
        assert!(problems.is_empty(), "{problems:?}");
    }

    #[test]
    fn the_same_unit_twice_is_one_and_with_other_flags_two() {
        let entry = |flags: &str, out: &str| {
            format!(r#"{{"file": "a.c", "command": "gcc {flags} -c a.c -o {out}"}}"#)
        };
        let list = [
            entry("-DA", "1.o"),
            entry("-DA -MD", "2.o"),
            entry("-DB", "3.o"),
        ];
        let folder = tree(&["a.c"], &format!("[{}]", list.join(",")));
        assert_eq!(
            names(&read_at(folder.path(), ".").0.unwrap()),
            ["a.c", "a.c"]
        );
    }

    #[test]
    fn bad_entries_are_reported_and_the_rest_is_unharmed() {
        let folder = tree(
            &["a.c"],
            r#"[
              {"file": "a.c", "command": "gcc -c 'a.c"},
              {"file": 5},
              {"file": "a.c"},
              {"file": "gone.c", "command": "gcc -c gone.c"},
              {"file": "a.c", "command": "gcc -c a.c"}
            ]"#,
        );
        let (commands, problems) = read_at(folder.path(), ".");
        assert_eq!(names(&commands.unwrap()), ["a.c"]);
        assert_eq!(
            problems[0],
            "compile_commands.json:2: error: entry 0: the command has an unclosed quote"
        );
        assert!(
            problems[1]
                .starts_with("compile_commands.json:3: error: entry 1: invalid type: integer")
        );
        assert_eq!(
            problems[2],
            "compile_commands.json:4: error: entry 2: neither `command` nor `arguments`"
        );
        assert_eq!(
            problems[3],
            format!("compile_commands.json:5: error: entry 3: gone.c does not exist")
        );
        assert_eq!(problems.len(), 4);
    }

    #[test]
    fn malformed_json_has_a_place_and_what_came_before_is_used() {
        let folder = tree(
            &["a.c"],
            "[{\"file\": \"a.c\", \"command\": \"gcc a.c\"},\n {\"file\": ",
        );
        let (commands, problems) = read_at(folder.path(), ".");
        assert_eq!(names(&commands.unwrap()), ["a.c"]);
        assert_eq!(
            problems,
            ["compile_commands.json:2:10: error: EOF while parsing a value"]
        );

        for (text, expected) in [
            (
                "{\"a\": 1}",
                "compile_commands.json:1:0: error: invalid type: map",
            ),
            (
                "[\n  nonsense]",
                "compile_commands.json:2:4: error: expected ident",
            ),
            ("", "compile_commands.json:1:0: error: EOF"),
        ] {
            let folder = tree(&[], text);
            let problem = read_at(folder.path(), ".").0.unwrap_err().to_string();
            let problem = problem.replace(&format!("{}/", folder.path().display()), "");
            let expected = expected.replace(":0:", ":");
            assert!(problem.starts_with(&expected), "{problem}");
        }
    }

    #[test]
    fn other_languages_are_counted() {
        let folder = tree(
            &["a.c", "b.cc", "c.S"],
            r#"[{"file": "b.cc", "command": "g++ -c b.cc"}, {"file": "c.S", "command": "gcc -c c.S"},
                {"file": "a.c", "command": "gcc -c a.c"}]"#,
        );
        let (commands, problems) = read_at(folder.path(), ".");
        assert_eq!(names(&commands.unwrap()), ["a.c"]);
        assert_eq!(
            problems,
            ["compile_commands.json: note: entries that are not C were left out: 1 .S, 1 .cc"]
        );
    }

    #[test]
    fn only_what_lies_under_the_path_is_taken() {
        let folder = tree(
            &["net/a.c", "netfilter/b.c"],
            r#"[{"file": "net/a.c", "command": "gcc -c net/a.c"},
                {"file": "netfilter/b.c", "command": "gcc -c netfilter/b.c"}]"#,
        );
        assert_eq!(names(&read_at(folder.path(), "net").0.unwrap()), ["a.c"]);
        assert_eq!(
            names(&read_at(folder.path(), "netfilter/b.c").0.unwrap()),
            ["b.c"]
        );
    }

    #[test]
    fn a_database_that_was_recorded_elsewhere_is_read_as_of_here() {
        let folder = tree(
            &["src/a.c", "src/b.c"],
            r#"[{"directory": "/gone/w/src", "file": "/gone/w/src/a.c",
                 "command": "gcc -I/gone/w/inc -I/gone/w -I/gone/wide -c a.c"},
                {"directory": "/gone/w/src", "file": "b.c", "arguments": ["gcc", "-c", "/gone/w/src/b.c"]}]"#,
        );
        let (commands, problems) = read_at(folder.path(), ".");
        let commands = commands.unwrap();
        assert_eq!(names(&commands), ["src/a.c", "src/b.c"]);
        let here = folder.path().display();
        let expected = [
            format!("-I{here}/inc"),
            format!("-I{here}"),
            "-I/gone/wide".to_owned(),
        ];
        let expected: Vec<OsString> = expected.into_iter().map(OsString::from).collect();
        assert_eq!(commands[0].arguments, expected);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(
            problems[0].contains("it was recorded in /gone/w;"),
            "{problems:?}"
        );
    }

    #[test]
    fn databases_are_sought_in_build_folders_and_above() {
        let folder = tree(
            &[
                "build-x/compile_commands.json",
                "src/deep/a.c",
                "other/compile_commands.json",
            ],
            "[]",
        );
        let found = candidates(&folder.path().join("src/deep"));
        let expected = [
            folder.path().join(FILE_NAME),
            folder.path().join("build-x").join(FILE_NAME),
        ];
        assert_eq!(&found[..2], &expected);
        assert!(
            !found
                .iter()
                .any(|file| file.starts_with(folder.path().join("other")))
        );
    }
}
