//! Records the compile commands and the links of a build while it runs.
//!
//! In: a build's command line. Out: [`Recorded`], the entries of a compile_commands.json, and what was linked.
//! A library preloaded into the build's programs ([`preload`]) has this program run where a compiler, a linker
//! or an archiver would be ([`interceptor`]), by whatever path that is called. Where no library can be
//! preloaded, a folder of scripts comes first in the build's PATH ([`redirect`]). Either calls this program
//! again in a mode of its own ([`become_other`]), so that neither the environment nor the tool's arguments
//! need carry anything. With `record_only`, C and C++ files are not compiled but answered with empty objects
//! ([`stub`]), and what is linked of those is linked when it is needed ([`deferred`], [`maker`]). [`link`],
//! [`archive`] and [`copying`] read command lines; what they tell is noted as [`event`]s, of which [`program`]
//! makes the links in the end.

mod archive;
mod copying;
mod deferred;
mod entry;
mod event;
mod folder;
mod interceptor;
mod invocation;
mod link;
mod maker;
mod preload;
mod program;
mod redirect;
mod run;
mod stub;
mod tools;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{SystemTime, UNIX_EPOCH};

use thiserror::Error;

pub use entry::{Entry, read, write};
use event::Event;
use folder::{Folder, Id, Kind, Plan};
pub use program::{Linked, merged as merged_links, read as read_links, write as write_links};
use redirect::Redirect;

use crate::leftovers;

/// First argument of this program when it runs in a compiler's place.
const INTERCEPT: &str = "--in-place-of-compiler";
/// First argument of this program when it runs in the place of a program that is yet to be linked.
const RUN: &str = "--in-place-of-program";
/// First argument of this program when a library that is yet to be linked is to be loaded.
const LOAD: &str = "--before-loading";

/// A build to be recorded.
#[derive(Clone, Debug)]
pub struct Build {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Answer C and C++ compilations with empty objects.
    pub record_only: bool,
    /// See only tools that are called by name: preload nothing.
    pub by_name: bool,
    /// What was linked before, which archives may hold still.
    pub known: Vec<Linked>,
}

/// What was recorded.
#[derive(Debug)]
pub struct Recorded {
    /// Sorted by file, each once.
    pub entries: Vec<Entry>,
    /// Sorted by output, each once.
    pub linked: Vec<Linked>,
    /// What was recorded and left out: sources that are gone, as those of configuration tests are.
    pub gone: usize,
    /// How the build ended.
    pub status: ExitStatus,
    /// What failed first, as the build named it.
    pub failed: Option<String>,
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
    let temporary = leftovers::Folder::create("cassini-capture-", &std::env::temp_dir())
        .map_err(in_folder(&std::env::temp_dir()))?;
    let at = temporary
        .path()
        .canonicalize()
        .map_err(in_folder(temporary.path()))?;
    let start = std::env::current_dir().map_err(in_folder(Path::new(".")))?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let plan = Plan {
        start: start.clone().into(),
        record_only: build.record_only,
        since: since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0)),
    };
    let folder = Folder::create(&at, &plan).map_err(in_folder(&at))?;
    let mut command = command(build, &folder, program, arguments)?;
    let ended = run::run(&mut command).map_err(|error| RecordError::Build {
        program: program.into(),
        error,
    })?;

    let calls = folder.all(Kind::Compilations).map_err(in_folder(&at))?;
    let events: Vec<(Id, Event)> = folder.all(Kind::Events).map_err(in_folder(&at))?;
    let events = events.into_iter().map(|(_, event)| event).collect();
    let (entries, gone) = entry::of_calls(&calls, &start);
    let called = folder.was_called();
    Ok(Recorded {
        entries,
        linked: program::of_events(&calls, events, &build.known, &start),
        gone,
        status: ended.status,
        failed: ended.failed,
        called,
    })
}

/// The build's command, with what makes interceptors run.
fn command(
    build: &Build,
    folder: &Folder,
    program: &OsStr,
    arguments: &[OsString],
) -> Result<Command, RecordError> {
    let at = folder.path();
    let failed = |error| RecordError::Folder {
        folder: at.to_path_buf(),
        error,
    };
    redirect::try_out(folder).map_err(|error| RecordError::NotExecutable {
        folder: at.to_path_buf(),
        error,
    })?;
    let library = match build.by_name {
        true => None,
        false => preload::make(folder, build.record_only).map_err(failed)?,
    };
    if let Some(library) = library {
        let mut command = redirect::directly(folder, program).map_err(failed)?;
        command.args(arguments);
        command.envs(preload::environment(&library));
        return Ok(command);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut redirect = Redirect::new(folder, &path).map_err(failed)?;
    let mut command = Command::new(redirect.program(program).map_err(failed)?);
    for argument in arguments {
        command.arg(redirect.assignment(argument).map_err(failed)?);
    }
    for (name, value) in redirect.environment().map_err(failed)? {
        command.env(name, value);
    }
    let first = [folder.interceptors()].into_iter();
    let search = std::env::join_paths(first.chain(std::env::split_paths(&path)));
    command.env("PATH", search.unwrap_or(path));
    Ok(command)
}

/// When this process was started in the place of a compiler, or of a program of the build that is
/// captured: does their part, and gives the exit status, unless it has become another program.
pub fn become_other(words: &[OsString]) -> Option<u8> {
    let mode = words.get(1)?.to_str()?;
    let (folder, subject) = match (mode, words.get(2), words.get(3)) {
        (INTERCEPT | RUN | LOAD, Some(folder), Some(subject)) => (Folder::at(folder), subject),
        _ => return None,
    };
    let rest = words.get(4..).unwrap_or_default();
    let result = match (mode, rest.split_first()) {
        (INTERCEPT, Some((shown, arguments))) => {
            interceptor::intercept(&folder, subject, shown, arguments)
        }
        (LOAD, _) => maker::load(&folder, Path::new(subject)),
        _ => Err(run(&folder, subject, rest)),
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
        Some(id) => maker::run(folder, &id, words),
        None => io::ErrorKind::InvalidInput.into(),
    }
}
