//! Records the compile commands of a build while it runs.
//!
//! In: a build's command line. Out: [`Recorded`], the entries of a compile_commands.json. A folder of
//! [`interceptor`]s comes first in the build's PATH, one small script under each name that a C compiler
//! there has; each calls this program again in a mode of its own ([`become_other`]), so that neither
//! the environment nor the compiler's arguments need carry anything. With `record_only`, C files are
//! not compiled but answered with empty objects ([`stub`]), and programs linked of those are linked when
//! they are run ([`deferred`]).

mod deferred;
mod entry;
mod folder;
mod interceptor;
mod invocation;
mod redirect;
mod stub;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use thiserror::Error;

pub use entry::{Entry, read, write};
use folder::{Folder, Id, Kind, Plan};
use redirect::Redirect;

/// First argument of this program when it runs in a compiler's place.
const INTERCEPT: &str = "--in-place-of-compiler";
/// First argument of this program when it runs in the place of a program that is yet to be linked.
const RUN: &str = "--in-place-of-program";

/// A build to be recorded.
#[derive(Clone, Debug)]
pub struct Build {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Answer C compilations with empty objects.
    pub record_only: bool,
}

/// What was recorded.
#[derive(Debug)]
pub struct Recorded {
    /// Sorted by file, each once.
    pub entries: Vec<Entry>,
    /// What was recorded and left out: sources that are gone, as those of configuration tests are.
    pub gone: usize,
    /// How the build ended.
    pub status: ExitStatus,
    /// Whether any compiler was called through an interceptor.
    pub called: bool,
}

#[derive(Debug, Error)]
pub enum RecordError {
    #[error("no command to run; say `cassini capture -- make`")]
    NoCommand,
    #[error("cannot run {}: {error}", program.display())]
    Build { program: PathBuf, error: io::Error },
    #[error("cannot keep what the build does in {}: {error}; TMPDIR names another place", folder.display())]
    Folder { folder: PathBuf, error: io::Error },
    #[error("programs in {} cannot be run ({error}); TMPDIR names another place", folder.display())]
    NotExecutable { folder: PathBuf, error: io::Error },
}

/// Runs a build and records what it compiles.
pub fn record(build: &Build) -> Result<Recorded, RecordError> {
    let (program, arguments) = build.command.split_first().ok_or(RecordError::NoCommand)?;
    let in_folder = |folder: &Path| {
        let folder = folder.to_path_buf();
        move |error| RecordError::Folder { folder, error }
    };
    let temporary = tempfile::Builder::new()
        .prefix("cassini-capture-")
        .tempdir()
        .map_err(in_folder(&std::env::temp_dir()))?;
    let at = temporary
        .path()
        .canonicalize()
        .map_err(in_folder(temporary.path()))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let start = std::env::current_dir().map_err(in_folder(Path::new(".")))?;
    let plan = Plan {
        start: start.clone().into(),
        record_only: build.record_only,
    };
    let folder = Folder::create(&at, &plan).map_err(in_folder(&at))?;
    let mut redirect = Redirect::new(&folder, &path).map_err(in_folder(&at))?;
    redirect
        .try_out()
        .map_err(|error| RecordError::NotExecutable {
            folder: at.clone(),
            error,
        })?;

    let mut command = Command::new(redirect.program(program).map_err(in_folder(&at))?);
    for argument in arguments {
        command.arg(redirect.assignment(argument).map_err(in_folder(&at))?);
    }
    for (name, value) in redirect.environment().map_err(in_folder(&at))? {
        command.env(name, value);
    }
    let first = [folder.interceptors()].into_iter();
    let search = std::env::join_paths(first.chain(std::env::split_paths(&path)));
    command.env("PATH", search.unwrap_or(path));
    let status = command.status().map_err(|error| RecordError::Build {
        program: program.into(),
        error,
    })?;

    let calls = folder.all(Kind::Compilations).map_err(in_folder(&at))?;
    let (entries, gone) = entry::of_calls(&calls, &start);
    let called = folder.was_called();
    Ok(Recorded {
        entries,
        gone,
        status,
        called,
    })
}

/// When this process was started in the place of a compiler, or of a program of the build that is
/// captured: does their part, and gives the exit status, unless it has become another program.
pub fn become_other(words: &[OsString]) -> Option<u8> {
    let mode = words.get(1)?.to_str()?;
    let (folder, subject) = match (mode, words.get(2), words.get(3)) {
        (INTERCEPT | RUN, Some(folder), Some(subject)) => (Folder::at(folder), subject),
        _ => return None,
    };
    let rest = words.get(4..).unwrap_or_default();
    let result = if mode == INTERCEPT {
        interceptor::intercept(&folder, subject, rest)
    } else {
        Err(run(&folder, subject, rest))
    };
    match result {
        Ok(()) => Some(0),
        Err(error) => {
            anstream::eprintln!("cassini capture: {error}");
            let status = if error.kind() == io::ErrorKind::NotFound {
                127
            } else {
                126
            };
            Some(status)
        }
    }
}

fn run(folder: &Folder, id: &OsStr, words: &[OsString]) -> io::Error {
    let name = words
        .first()
        .map_or(OsStr::new("program"), OsString::as_os_str);
    if !folder.path().is_dir() {
        let message = format!(
            "{} was not linked, as only its commands were wanted (--record-only); clean and build again",
            name.display()
        );
        return io::Error::other(message);
    }
    match Id::parse(id.as_encoded_bytes()) {
        Some(id) => deferred::run(folder, &id, words),
        None => io::ErrorKind::InvalidInput.into(),
    }
}
