//! Runs a compile command's preprocessor.
//!
//! In: a [`CompileCommand`]. Out: [`Preprocessed`] text with its line markers, through a pipe, or the
//! compiler's first complaint with its place. A header that cannot be found gets a stand-in, a flag
//! that the compiler does not know is left out, and both are told ([`mend`]).

mod mend;

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
use super::command::{self, CompileCommand};
use super::compiler::{Compiler, Compilers, NoCompiler};
use super::disk::Memo;
use super::manifest::{self, CommandKey};
use super::search::Search;
use super::standin::StandIns;
use super::template::System;
use super::watch::{Limits, watch};
use super::{Problem, Tree};
use crate::leftovers::Program;
use crate::source;

/// More text than this is no sane translation unit.
const TEXT_LIMIT: u64 = source::LIMIT;
/// A compiler's messages are kept up to here.
const MESSAGE_LIMIT: u64 = 1 << 20;

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
mod tests;
