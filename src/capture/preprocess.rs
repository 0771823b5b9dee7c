//! Runs a compile command's preprocessor.
//!
//! In: a [`CompileCommand`]. Out: [`Preprocessed`] text with its line markers, through a pipe, or the
//! compiler's first complaint with its place. A header that cannot be found gets a stand-in, a flag
//! that the compiler does not know is left out, and both are told.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::bare;
use super::branches::Scan;
use super::command::{self, CompileCommand};
use super::compiler::{Compiler, Compilers, NoCompiler};
use super::complaint::{Complaint, Mend};
use super::disk::Memo;
use super::manifest::{self, CommandKey};
use super::search::Search;
use super::standin::StandIns;
use super::template::{self, System};
use super::watch::{Limits, watch};
use super::{Place, Problem, Severity, Tree};
use crate::leftovers::Program;
use crate::source::{self, read_regular};

/// More text than this is no sane translation unit.
const TEXT_LIMIT: u64 = source::LIMIT;
/// A compiler's messages are kept up to here.
const MESSAGE_LIMIT: u64 = 1 << 20;
/// So often a folder of stand-ins is made that somebody removes meanwhile.
const SUPPLIES: usize = 20;
/// So many missing headers and unknown flags are mended in one unit.
const MENDING_LIMIT: usize = 200;

/// The text of a translation unit.
#[derive(Debug)]
pub struct Preprocessed {
    /// With line markers; any bytes at all.
    pub text: Vec<u8>,
    /// What had to be mended.
    pub notes: Vec<Problem>,
    /// CPU time of the preprocessor, user and system, over all attempts.
    pub cpu: Duration,
    /// `None` if the compiler does not tell.
    pub(super) origin: Option<Origin>,
}

/// What the preprocessor was asked for.
#[derive(Debug)]
pub(super) struct Origin {
    /// Where it looked for headers.
    pub search: Search,
    /// The command's arguments and the user's.
    pub arguments: Vec<OsString>,
    /// Headers that have stand-ins.
    pub missing: Vec<PathBuf>,
}

/// A translation unit that could not be preprocessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreprocessError {
    /// The unit's source, as reports name it.
    pub file: String,
    /// What the compiler complained of first, and where.
    pub problem: Problem,
    pub cpu: Duration,
}

impl std::error::Error for PreprocessError {}

impl fmt::Display for PreprocessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: not preprocessed: {}", self.file, self.problem)
    }
}

/// Preprocesses translation units; shared by threads.
pub struct Preprocessor<'a> {
    tree: &'a Tree,
    /// Arguments of the user's own, after the command's.
    extra: Vec<OsString>,
    compilers: Compilers,
    limits: Limits,
    /// Where what is gone at the end of the run is made.
    temporary: PathBuf,
    /// What compilers answered, by their flags.
    answers: Memo<Question, Option<Arc<str>>>,
    /// What compilers' system headers declare, by their flags.
    systems: Memo<(PathBuf, Vec<OsString>), Arc<System>>,
    /// Hashes of what tells one compiler from another.
    identities: Memo<PathBuf, blake3::Hash>,
}

/// A compiler, its flags and a source.
type Question = (PathBuf, Vec<OsString>, &'static str);

/// What one run of the compiler gave.
struct Run {
    text: Vec<u8>,
    messages: String,
    search: Option<Search>,
    success: bool,
    cpu: Duration,
}

/// The assembly that a compiler makes of a source with those of the arguments that bear on the target.
pub fn assembly(program: &Path, arguments: &[OsString], source: &str) -> Option<String> {
    assembly_by(Command::new(program), arguments, source)
}

fn assembly_by(mut command: Command, arguments: &[OsString], source: &str) -> Option<String> {
    command
        .args(command::target_flags(arguments))
        .args(["-w", "-S", "-x", "c", "-o", "-", "-"])
        .stdin(Stdio::piped());
    let (text, success) = output_of(&mut command, source).ok()?;
    success.then(|| String::from_utf8_lossy(&text).into_owned())
}

/// What a program says on its standard output to this input, and whether it succeeded.
fn output_of(command: &mut Command, input: &str) -> io::Result<(Vec<u8>, bool)> {
    let mut program = Program::spawn(command.stdout(Stdio::piped()).stderr(Stdio::null()))?;
    if let Some(mut stdin) = program.stdin.take() {
        // One that does not read to the end fails.
        let _ = stdin.write_all(input.as_bytes());
    }
    let mut text = Vec::new();
    if let Some(stdout) = &mut program.stdout {
        stdout.take(TEXT_LIMIT).read_to_end(&mut text)?;
    }
    Ok((text, program.wait()?.status.success()))
}

/// The system's headers that there are, preprocessed by a compiler, with their `#define`s.
fn declarations(mut compiler: Command, flags: &[OsString]) -> Option<Vec<u8>> {
    let headers = bare::STANDARD.split_whitespace();
    let headers = headers.chain(bare::FURTHER.split_whitespace());
    let include = |header| format!("#if __has_include(<{header}>)\n#include <{header}>\n#endif\n");
    let source: String = headers.map(include).collect();
    compiler
        .args(flags)
        .args(["-w", "-E", "-dD", "-D_GNU_SOURCE", "-x", "c", "-"])
        .stdin(Stdio::piped());
    // The compiler reads all of its input before it writes.
    Some(output_of(&mut compiler, &source).ok()?.0)
}

impl<'a> Preprocessor<'a> {
    /// `extra` are compiler arguments of the user's own (`check … -- ARGS`). Compilers are looked for in `PATH`.
    pub fn new(tree: &'a Tree, extra: Vec<OsString>) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self::with_path(tree, extra, &path)
    }

    fn with_path(tree: &'a Tree, extra: Vec<OsString>, path: &OsStr) -> Self {
        Preprocessor {
            tree,
            extra,
            compilers: Compilers::new(tree.foreign(), path),
            limits: Limits::default(),
            temporary: std::env::temp_dir(),
            answers: Memo::default(),
            systems: Memo::default(),
            identities: Memo::default(),
        }
    }

    /// Makes temporary files in this folder, and has compilers do so.
    pub fn with_temporary(self, folder: &Path) -> Self {
        let temporary = folder.to_owned();
        Preprocessor { temporary, ..self }
    }

    /// Names all that the text of a unit depends on besides what lies on the disk; `None` if that
    /// cannot be told.
    pub fn key(&self, command: &CompileCommand) -> Option<CommandKey> {
        let compiler = self.compilers.of(command).ok()?;
        let arguments = self.arguments(&compiler, command);
        if is_preprocessed(&command.source) || !manifest::is_tracked(&arguments) {
            return None;
        }
        let mut hasher = blake3::Hasher::new();
        let mut add = |part: &[u8]| {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        };
        add(env!("CASSINI_BUILD").as_bytes());
        add(self.identity(&compiler.program).as_bytes());
        for (name, value) in manifest::environment() {
            add(name.as_bytes());
            add(&[u8::from(value.is_some())]);
            add(value.unwrap_or_default().as_bytes());
        }
        for path in [self.tree.root(), &command.directory, &command.source] {
            add(path.as_os_str().as_bytes());
        }
        add(command.name.as_bytes());
        add(command.spelling.as_bytes());
        add(&[u8::from(command.guessed), u8::from(compiler.foreign)]);
        for (header, place) in &command.ungenerated {
            add(header.as_os_str().as_bytes());
            add(place.to_string().as_bytes());
        }
        if !command.ungenerated.is_empty() {
            add(self.system(&compiler, &arguments).hash().as_bytes());
        }
        for argument in &arguments {
            add(argument.as_bytes());
        }
        Some(CommandKey(*hasher.finalize().as_bytes()))
    }

    /// What tells a compiler from another, and from itself after an upgrade. A wrapper stays the same
    /// file when what it runs does not.
    fn identity(&self, program: &Path) -> blake3::Hash {
        self.identities.get(program.to_owned(), || {
            let mut hasher = blake3::Hasher::new();
            hasher.update(program.as_os_str().as_bytes());
            if let Ok(data) = program.metadata() {
                for number in [data.size().cast_signed(), data.mtime(), data.mtime_nsec()] {
                    hasher.update(&number.to_le_bytes());
                }
            }
            let mut version = self.compilers.process(program);
            version.arg("--version");
            if let Ok((text, _)) = output_of(version.stdin(Stdio::null()), "") {
                hasher.update(&text);
            }
            hasher.finalize()
        })
    }

    /// The assembly that a command's compiler makes of a source with the command's flags for the target; `None` if it
    /// refuses. Each is asked once.
    pub fn ask(&self, command: &CompileCommand, source: &'static str) -> Option<Arc<str>> {
        let compiler = self.compilers.of(command).ok()?;
        let flags = command::target_flags(&self.arguments(&compiler, command));
        let question = (compiler.program.clone(), flags.clone(), source);
        self.answers.get(question, || {
            let process = self.compilers.process(&compiler.program);
            assembly_by(process, &flags, source).map(Arc::from)
        })
    }

    /// What the system's headers declare to a compiler.
    fn system(&self, compiler: &Compiler, arguments: &[OsString]) -> Arc<System> {
        let flags = command::target_flags(arguments);
        let key = (compiler.program.clone(), flags.clone());
        self.systems.get(key, || {
            let process = self.compilers.process(&compiler.program);
            let text = declarations(process, &flags).unwrap_or_default();
            Arc::new(System::of(&text))
        })
    }

    /// The command's arguments, as far as the compiler knows them, and the user's.
    fn arguments(&self, compiler: &Compiler, command: &CompileCommand) -> Vec<OsString> {
        let mut arguments = match compiler.foreign {
            true => command::portable(&command.arguments),
            false => command.arguments.clone(),
        };
        arguments.extend(command.optional.iter().cloned());
        arguments.extend(self.extra.iter().cloned());
        arguments
    }

    /// Looks for the compilers of `commands`: says which are replaced by another, and fails if there is
    /// none for any of them.
    pub fn check(&self, commands: &[CompileCommand]) -> Result<Vec<Problem>, NoCompiler> {
        let commands = commands.iter();
        self.compilers
            .check(commands.filter(|command| !is_preprocessed(&command.source)))
    }

    /// The text of a translation unit.
    pub fn preprocess(&self, command: &CompileCommand) -> Result<Preprocessed, PreprocessError> {
        let mut cpu = Duration::ZERO;
        let mut notes = Vec::new();
        self.attempts(command, &mut cpu, &mut notes)
            .map(|(text, origin)| Preprocessed {
                text,
                notes,
                cpu,
                origin,
            })
            .map_err(|problem| PreprocessError {
                file: command.name.clone(),
                problem,
                cpu,
            })
    }

    /// Runs the compiler, mending what it complains of, until it succeeds or nothing can be mended.
    fn attempts(
        &self,
        command: &CompileCommand,
        cpu: &mut Duration,
        notes: &mut Vec<Problem>,
    ) -> Result<(Vec<u8>, Option<Origin>), Problem> {
        let at_source = |severity, message: String| {
            let place = Place {
                file: command.name.clone(),
                line: 0,
                column: 0,
            };
            Problem::new(severity, Some(place), message)
        };
        let failed = |error: io::Error| at_source(Severity::Error, error.to_string());
        if is_preprocessed(&command.source) {
            let text = read_regular(&command.source, TEXT_LIMIT).map_err(failed)?;
            return Ok((text, None));
        }
        let compiler = self
            .compilers
            .of(command)
            .map_err(|e| at_source(Severity::Error, e.to_string()))?;
        let mut arguments = self.arguments(&compiler, command);
        let given = arguments.clone();
        let mut optional = command.optional.clone();
        let mut missing: Vec<PathBuf> = Vec::new();
        let mut stand_ins: Option<StandIns> = None;
        for (name, place) in &command.ungenerated {
            missing.push(name.clone());
            let system = self.system(&compiler, &given);
            let added = self.supply(&mut stand_ins, &missing, &system);
            if let Some(message) = added.map_err(failed)? {
                notes.push(Problem::new(
                    Severity::Warning,
                    Some(place.clone()),
                    message,
                ));
            }
        }

        for _ in 0..MENDING_LIMIT {
            let run = self
                .run(&compiler, command, &arguments, stand_ins.as_ref())
                .map_err(failed)?;
            *cpu += run.cpu;
            let origin = run.search.map(|search| Origin {
                search,
                arguments: given.clone(),
                missing: missing.clone(),
            });
            if stand_ins.as_ref().is_some_and(|folder| !folder.are_there()) {
                // Removed under the run: a text without them is another one.
                stand_ins = None;
                let system = self.system(&compiler, &given);
                self.supply(&mut stand_ins, &missing, &system)
                    .map_err(failed)?;
                continue;
            }
            if run.success {
                return Ok((finish(stand_ins, run.text), origin));
            }
            let first = Complaint::first(&run.messages).ok_or_else(|| {
                let program = compiler.program.display();
                at_source(
                    Severity::Error,
                    format!("{program} failed without a message"),
                )
            })?;
            let fatal = Complaint::fatal(&run.messages);
            let cause = fatal.as_ref().unwrap_or(&first);
            let mend = cause.mend();
            let blamed = match &mend {
                Some(Mend::Header(name)) => asks_for(command, cause, name, &optional),
                _ => None,
            };
            let mended = match mend {
                Some(Mend::Header(name)) if let_go(&mut arguments, &mut optional, &blamed) => {
                    let blamed = blamed.unwrap_or_default();
                    let (name, blamed) = (name.display(), blamed.display());
                    Some(format!(
                        "{name} cannot be found; read without the build files' {blamed}, which asks for it"
                    ))
                }
                Some(Mend::Header(name)) => {
                    missing.push(name.clone());
                    let system = self.system(&compiler, &given);
                    let added = self.supply(&mut stand_ins, &missing, &system);
                    match added.map_err(failed)? {
                        None if command::drop_include(&mut arguments, &name) => {
                            Some(format!("{} cannot be found; not included", name.display()))
                        }
                        added => added,
                    }
                }
                Some(Mend::Flag(flag)) => {
                    let before = arguments.len();
                    arguments.retain(|argument| argument.to_str() != Some(&flag));
                    let program = compiler.program.display();
                    (arguments.len() < before)
                        .then(|| format!("{program} does not know {flag}; left out"))
                }
                None => None,
            };
            if let Some(message) = mended {
                let problem = self.problem(command, cause);
                notes.push(Problem {
                    severity: Severity::Warning,
                    message,
                    ..problem
                });
                continue;
            }
            let problem = self.problem(command, &first);
            // A definition of the build files may belong to another part of the program.
            if !optional.is_empty() {
                optional.clear();
                arguments.retain(|argument| !command.optional.contains(argument));
                let message = format!("without what the build files define: {}", problem.message);
                notes.push(Problem {
                    severity: Severity::Warning,
                    message,
                    ..problem
                });
                continue;
            }
            // What was made up may be what the program objects to (`#error "run configure"`), and the
            // compiler goes on to the end after an error that is not fatal.
            if fatal.is_some() || !(command.guessed || stand_ins.is_some()) {
                return Err(problem);
            }
            notes.push(Problem {
                severity: Severity::Warning,
                ..problem
            });
            return Ok((finish(stand_ins, run.text), origin));
        }
        Err(at_source(
            Severity::Error,
            format!("more than {MENDING_LIMIT} headers cannot be found"),
        ))
    }

    /// Makes the last of the missing headers exist and says how; and all of them, if the folder is new. The
    /// folder may be removed meanwhile, with the database's.
    fn supply(
        &self,
        stand_ins: &mut Option<StandIns>,
        missing: &[PathBuf],
        system: &System,
    ) -> io::Result<Option<String>> {
        for _ in 1..SUPPLIES {
            match self.try_supply(stand_ins, missing, system) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => *stand_ins = None,
                supplied => return supplied,
            }
        }
        self.try_supply(stand_ins, missing, system)
    }

    fn try_supply(
        &self,
        stand_ins: &mut Option<StandIns>,
        missing: &[PathBuf],
        system: &System,
    ) -> io::Result<Option<String>> {
        let there = match stand_ins {
            Some(_) => missing.len().saturating_sub(1),
            None => 0,
        };
        let folder = StandIns::get(stand_ins, &self.temporary)?;
        let mut last = None;
        for name in &missing[there..] {
            last = self.add_stand_in(folder, name, system)?;
        }
        Ok(last)
    }

    /// Makes a missing header exist and says how; `None` if that cannot be done.
    fn add_stand_in(
        &self,
        folder: &StandIns,
        name: &Path,
        system: &System,
    ) -> io::Result<Option<String>> {
        let template = self.tree.template(name);
        let text = template.as_ref().map_or(String::new(), |template| {
            template::fill(&template.text, system, &template.settled)
        });
        let what = match template {
            Some(template) => template.told.clone(),
            None => "taken as empty".to_owned(),
        };
        let added = folder.add(name, &text)?;
        Ok(added.then(|| format!("{} cannot be found; {what}", name.display())))
    }

    /// One run of the compiler.
    fn run(
        &self,
        compiler: &Compiler,
        command: &CompileCommand,
        arguments: &[OsString],
        stand_ins: Option<&StandIns>,
    ) -> io::Result<Run> {
        let mut process = self.compilers.process(&compiler.program);
        process.args(arguments);
        if let Some(stand_ins) = stand_ins {
            process.arg("-idirafter").arg(stand_ins.search());
        }
        // Warnings are the compiler's business.
        // Under `-v` the compiler tells where it looks for headers.
        process
            .args(["-w", "-E", "-v"])
            .arg(as_file(&command.spelling));
        process.current_dir(&command.directory);
        // __DATE__ and __TIME__ must not change from run to run.
        process.env("SOURCE_DATE_EPOCH", "0");
        process.env("TMPDIR", &self.temporary);
        process
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let program = compiler.program.display();
        let mut child = Program::spawn(&mut process)
            .map_err(|error| io::Error::new(error.kind(), format!("{program}: {error}")))?;

        let id = child.id();
        let stdout = child.stdout.take();
        let stderr = child.stderr.take();
        let (running, done) = channel::<()>();
        let (text, messages, usage, ended) = std::thread::scope(|scope| {
            let watched = scope.spawn(move || watch(id, self.limits, &done));
            let messages = scope.spawn(move || stderr.map_or_else(Vec::new, read_messages));
            let mut text = Vec::with_capacity(1 << 20);
            let read = match stdout {
                Some(stdout) => stdout.take(TEXT_LIMIT + 1).read_to_end(&mut text),
                None => Ok(0),
            };
            // The pipe's reading end is closed now, so that a compiler that has more to say stops.
            let messages = messages.join().unwrap_or_default();
            let usage = child.wait();
            drop(running);
            let ended = watched.join().unwrap_or_default();
            (read.map(|_| text), messages, usage, ended)
        });
        let (text, usage) = (text?, usage?);
        if let Some(ended) = ended {
            let message = format!("{program} was stopped: {}", ended.message());
            return Err(io::Error::other(message));
        }
        if text.len() as u64 > TEXT_LIMIT {
            return Err(io::Error::other(format!(
                "more than {TEXT_LIMIT} bytes after preprocessing"
            )));
        }
        let (search, messages) = Search::take(&String::from_utf8_lossy(&messages));
        Ok(Run {
            text,
            messages,
            search,
            success: usage.status.success(),
            cpu: usage.rusage.utime + usage.rusage.stime,
        })
    }

    /// A complaint with its place as reports have it: the unit when the compiler names none.
    fn problem(&self, command: &CompileCommand, complaint: &Complaint) -> Problem {
        let (line, column) = (complaint.line, complaint.column);
        let file = match line {
            0 => command.name.clone(),
            _ => self.tree.name(&command.directory, &complaint.file).shown,
        };
        let place = Place { file, line, column };
        Problem::new(Severity::Error, Some(place), complaint.message.clone())
    }
}

/// Takes an argument out; false if there is none.
fn let_go(
    arguments: &mut Vec<OsString>,
    optional: &mut Vec<OsString>,
    blamed: &Option<OsString>,
) -> bool {
    if let Some(blamed) = blamed {
        arguments.retain(|other| other != blamed);
        optional.retain(|other| other != blamed);
    }
    blamed.is_some()
}

/// The definition among `optional` without which the file that includes the header would not.
fn asks_for(
    command: &CompileCommand,
    cause: &Complaint,
    header: &Path,
    optional: &[OsString],
) -> Option<OsString> {
    if optional.is_empty() {
        return None;
    }
    let text = read_regular(&command.directory.join(&cause.file), source::LIMIT).ok()?;
    let includes = Scan::of(&text, &BTreeSet::new()).includes;
    let header = header.file_name()?.to_str()?;
    let (_, condition) = includes.iter().find(|(name, _)| name == header)?;
    let split = |argument: &OsString| {
        let definition = argument.to_str()?.strip_prefix("-D")?.to_owned();
        let (name, value) = definition.split_once('=').unwrap_or((&definition, "1"));
        Some((name.to_owned(), value.to_owned()))
    };
    let needs = |argument: &&OsString| {
        let others = optional.iter().filter(|other| other != argument);
        let others: BTreeMap<String, String> = others.filter_map(split).collect();
        let known = |name: &str| others.get(name).map(String::as_str);
        let needed = condition.settle(true, &known).unwrap_or_default();
        split(argument).is_some_and(|(name, _)| needed.contains_key(&name))
    };
    optional.iter().find(needs).cloned()
}

/// The text without what differs from run to run.
fn finish(stand_ins: Option<StandIns>, text: Vec<u8>) -> Vec<u8> {
    match stand_ins {
        Some(stand_ins) => stand_ins.anonymise(text),
        None => text,
    }
}

/// A file's name as no compiler takes it for a flag, or for a file with flags.
fn as_file(spelling: &OsStr) -> OsString {
    match spelling.as_bytes() {
        [b'-' | b'@', ..] => Path::new(".").join(spelling).into_os_string(),
        _ => spelling.to_owned(),
    }
}

fn is_preprocessed(source: &Path) -> bool {
    source.extension().is_some_and(|extension| extension == "i")
}

/// Keeps the beginning of what a compiler says and reads on to the end, so that it never blocks.
fn read_messages(mut stderr: impl Read) -> Vec<u8> {
    let mut messages = Vec::new();
    // A broken pipe loses messages only; the exit status tells of the failure.
    let _ = stderr
        .by_ref()
        .take(MESSAGE_LIMIT)
        .read_to_end(&mut messages);
    let _ = io::copy(&mut stderr, &mut io::sink());
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{Capture, Options, capture};
    use std::fs;
    use tempfile::TempDir;

    fn tree(files: &[(&str, &str)]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn captured(folder: &TempDir) -> Capture {
        capture(&Options::of(folder.path()).unwrap()).unwrap()
    }

    /// Preprocesses the only unit of a tree; the text comes without line markers.
    fn only(files: &[(&str, &str)]) -> Result<(String, Vec<String>), PreprocessError> {
        let folder = tree(files);
        let capture = captured(&folder);
        assert_eq!(capture.commands.len(), 1, "{:?}", capture.problems);
        let done = Preprocessor::new(&capture.tree, Vec::new()).preprocess(&capture.commands[0])?;
        let text = String::from_utf8_lossy(&done.text).into_owned();
        let text: Vec<&str> = text
            .lines()
            .filter(|l| !l.starts_with('#') && !l.is_empty())
            .collect();
        Ok((
            text.join("\n"),
            done.notes.iter().map(Problem::to_string).collect(),
        ))
    }

    #[test]
    fn a_database_unit_is_preprocessed_as_it_was_compiled() {
        let database = r#"[{"file": "a.c", "command": "gcc -DX='\"hi\"' -Iinc -Werror -c a.c -o no/such/dir/a.o"}]"#;
        let files = [
            ("a.c", "#include <h.h>\n#warning w\nX"),
            ("inc/h.h", "int h;"),
            ("compile_commands.json", database),
        ];
        assert_eq!(only(&files).unwrap(), ("int h;\n\"hi\"".to_owned(), vec![]));
    }

    #[test]
    fn missing_headers_get_stand_ins_and_are_told() {
        let files = [(
            "a.c",
            "#include \"gone.h\"\n#include <../up/gone2.h>\nint a;\n#if __has_include(<other.h>)\nint b;\n#endif",
        )];
        let (text, notes) = only(&files).unwrap();
        assert_eq!(text, "int a;");
        assert_eq!(
            notes,
            [
                "a.c:1:10: warning: gone.h cannot be found; taken as empty",
                "a.c:2:10: warning: ../up/gone2.h cannot be found; taken as empty"
            ]
        );
    }

    #[test]
    fn a_missing_config_h_is_made_of_its_template() {
        let files = [
            (
                "src/a.c",
                "#ifdef HAVE_CONFIG_H\n#include <config.h>\n#endif\n#ifdef HAVE_STDIO_H\nint a;\n#endif\nL",
            ),
            (
                "config.h.in",
                "#undef HAVE_STDIO_H\n#undef HAVE_NO_SUCH_HEADER_H\n#define L @L@\n",
            ),
        ];
        let (text, notes) = only(&files).unwrap();
        assert_eq!(text, "int a;\n0");
        assert_eq!(
            notes,
            [
                "src/a.c:2:10: warning: config.h cannot be found; taken from its template config.h.in"
            ]
        );
    }

    #[test]
    fn an_error_directive_fails_a_unit_of_a_database_but_not_a_guessed_one() {
        let source = ("a.c", "int a;\n#error \"configure me\"\nint b;");
        let (text, notes) = only(&[source]).unwrap();
        assert_eq!(text, "int a;\nint b;");
        assert_eq!(notes, ["a.c:2:2: warning: #error \"configure me\""]);
        let database = (
            "compile_commands.json",
            r#"[{"file": "a.c", "command": "gcc -c a.c"}]"#,
        );
        let error = only(&[source, database]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.c: not preprocessed: a.c:2:2: error: #error \"configure me\""
        );
    }

    #[test]
    fn a_missing_header_is_mended_behind_an_error_directive() {
        let (text, notes) = only(&[("a.c", "#error e\n#include <gone.h>\nint a;")]).unwrap();
        assert_eq!(text, "int a;");
        assert_eq!(notes.len(), 2, "{notes:?}");
    }

    #[test]
    fn a_flag_that_the_compiler_does_not_know_is_left_out() {
        let database = r#"[{"file": "a.c", "command": "gcc -fblocks -DA=1 -c a.c"}]"#;
        let (text, notes) = only(&[("a.c", "A"), ("compile_commands.json", database)]).unwrap();
        assert_eq!(text, "1");
        assert_eq!(notes.len(), 1);
        assert!(
            notes[0].ends_with("does not know -fblocks; left out"),
            "{notes:?}"
        );
    }

    #[test]
    fn a_file_that_the_command_includes_by_an_absolute_path_may_be_missing() {
        let database =
            r#"[{"file": "a.c", "command": "gcc -include /gone/config.h -DA=1 -c a.c"}]"#;
        let (text, notes) = only(&[("a.c", "A"), ("compile_commands.json", database)]).unwrap();
        assert_eq!(text, "1");
        assert_eq!(
            notes,
            ["a.c: warning: /gone/config.h cannot be found; not included"]
        );
    }

    #[test]
    fn a_compiler_that_is_not_installed_is_replaced_without_its_flags() {
        let database = r#"[{"file": "a.c", "command": "no-such-gcc -mabi=odd -DA=1 -c a.c"}]"#;
        let folder = tree(&[("a.c", "A"), ("compile_commands.json", database)]);
        let capture = captured(&folder);
        let preprocessor = Preprocessor::new(&capture.tree, vec!["-UA".into(), "-DA=2".into()]);
        let notes = preprocessor.check(&capture.commands).unwrap();
        assert!(
            notes[0]
                .message
                .starts_with("no-such-gcc is not installed; /"),
            "{notes:?}"
        );
        let done = preprocessor.preprocess(&capture.commands[0]).unwrap();
        assert!(
            done.text.ends_with(b"\n2\n"),
            "{}",
            String::from_utf8_lossy(&done.text)
        );
        assert!(done.cpu > Duration::ZERO);
    }

    #[test]
    fn without_a_compiler_it_says_what_it_looked_for() {
        let folder = tree(&[("a.c", "int a;")]);
        let capture = captured(&folder);
        let preprocessor = Preprocessor::with_path(&capture.tree, Vec::new(), OsStr::new(""));
        let error = preprocessor.check(&capture.commands).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no C compiler found; looked for cc, gcc, clang in PATH"
        );
        let error = preprocessor.preprocess(&capture.commands[0]).unwrap_err();
        assert!(error.to_string().contains("no C compiler found"), "{error}");
    }

    #[test]
    fn a_file_already_preprocessed_is_read_as_it_is() {
        let database = r#"[{"file": "a.i", "command": "no-such-gcc -c a.i"}]"#;
        let (text, _) = only(&[("a.i", "A\nint a;"), ("compile_commands.json", database)]).unwrap();
        assert_eq!(text, "A\nint a;");
    }

    #[test]
    fn include_folders_are_worked_out_nearest_first() {
        let files = [
            (
                "one/src/a.c",
                "#include \"lib/x.h\"\n#include <y.h>\n#include <string.h>\n",
            ),
            ("one/include/lib/x.h", "#include \"z.h\"\nint one;"),
            ("one/include/lib/z.h", "int z;"),
            ("two/include/lib/x.h", "int two;"),
            ("two/deep/y.h", "int y;"),
            ("compat/string.h", "int compat;"),
        ];
        let (text, notes) = only(&files).unwrap();
        assert!(text.starts_with("int z;\nint one;\nint y;\n"), "{text}");
        assert!(text.contains("strlen") && !text.contains("compat") && !text.contains("two"));
        assert!(notes.is_empty(), "{notes:?}");
    }

    #[test]
    fn the_text_is_the_same_from_run_to_run() {
        let files = [
            (
                "a.c",
                "#include <gone.h>\nconst char *d = __DATE__ __TIME__;",
            ),
            ("gone.h.in", "int g;"),
        ];
        let folder = tree(&files);
        let capture = captured(&folder);
        let preprocessor = Preprocessor::new(&capture.tree, Vec::new());
        let text = || preprocessor.preprocess(&capture.commands[0]).unwrap().text;
        let first = text();
        assert!(String::from_utf8_lossy(&first).contains("\"<missing>/d/"));
        assert_eq!(first, text());
    }

    #[test]
    fn a_part_of_a_project_finds_the_headers_of_the_whole() {
        let folder = tree(&[
            ("Makefile", ""),
            ("include/x/h.h", "int h;"),
            ("src/a.c", "#include <x/h.h>\n"),
        ]);
        let path = folder.path().join("src");
        let capture = capture(&Options::of(&path).unwrap()).unwrap();
        let done = Preprocessor::new(&capture.tree, Vec::new())
            .preprocess(&capture.commands[0])
            .unwrap();
        assert!(
            String::from_utf8_lossy(&done.text).contains("int h;"),
            "{:?}",
            done.notes
        );
    }

    #[test]
    fn names_that_are_no_utf8_are_preprocessed_too() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(OsStr::from_bytes(b"a\xff.c")), "int a;").unwrap();
        let capture = captured(&folder);
        let done = Preprocessor::new(&capture.tree, Vec::new())
            .preprocess(&capture.commands[0])
            .unwrap();
        assert!(done.text.ends_with(b"int a;\n") || done.text.ends_with(b"int a;"));
        assert_eq!(capture.commands[0].name, "a\u{fffd}.c");
    }
}
