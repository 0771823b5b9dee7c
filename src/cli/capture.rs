//! `cassini capture`: record the compile commands of a build.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use anyhow::{Context, bail};

use super::output::{self, ERROR_LABEL, WARNING_LABEL};
use super::{CLEAN, FAILED, signals};
use crate::capture::intercept::{self, Build, Entry, Recorded};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Compilers, linkers and archivers are seen by whatever path the build calls them: `make`, `ninja`, or
`sh -c './configure && make -k'`. What was linked of what is written beside the commands, as FILE.links.json.

With --record-only, the tree afterwards holds empty objects: clean it before it is built again.")]
pub struct Arguments {
    /// Write the commands here
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "compile_commands.json"
    )]
    output: PathBuf,
    /// Keep the commands that the file has already
    #[arg(long)]
    append: bool,
    /// Answer C and C++ compilations with empty objects at once; all else runs
    #[arg(long)]
    record_only: bool,
    /// See only compilers that are called by name; nothing is preloaded into the build's programs
    #[arg(long)]
    by_name: bool,
    /// The build, such as `make -j8`
    #[arg(last = true, required = true, value_name = "BUILD")]
    build: Vec<OsString>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let links = arguments.output.with_extension("links.json");
    let known_entries = known(arguments.append, &arguments.output, intercept::read)?;
    let known_links = known(arguments.append, &links, intercept::read_links)?;
    // The build gets the signal too; what it compiled until then is kept.
    let received = signals::pass_on()?;
    let recorded = intercept::record(&Build {
        command: arguments.build.clone(),
        record_only: arguments.record_only,
        by_name: arguments.by_name,
        known: known_links.clone(),
    })?;
    if recorded.entries.is_empty() {
        if let Some(status) = received.status() {
            anstream::eprintln!("{ERROR_LABEL}: stopped before anything was compiled");
            return Ok(status);
        }
        bail!("{}", nothing(&recorded));
    }
    let count = recorded.entries.len();
    let mut entries: Vec<Entry> = known_entries;
    entries.extend(recorded.entries.iter().cloned());
    entries.sort();
    entries.dedup();
    output::write(Some(&arguments.output), |out| {
        intercept::write(out, &entries)
    })?;
    let linked = intercept::merged_links(known_links, recorded.linked.clone());
    output::write(Some(&links), |out| intercept::write_links(out, &linked))?;
    let file = arguments.output.display();
    anstream::eprintln!(
        "{count} compile commands recorded; {file} has {}, {} has {} links",
        entries.len(),
        links.display(),
        linked.len()
    );
    if !recorded.status.success() {
        let failure = failure(&recorded, arguments.record_only);
        anstream::eprintln!("{WARNING_LABEL}: {failure}");
    }
    Ok(received.status().unwrap_or_else(|| status(recorded.status)))
}

/// What a file has already that is added to.
fn known<T>(
    append: bool,
    file: &Path,
    read: impl FnOnce(&Path) -> io::Result<Vec<T>>,
) -> anyhow::Result<Vec<T>> {
    match append && file.exists() {
        true => read(file).with_context(|| format!("cannot add to {}", file.display())),
        false => Ok(Vec::new()),
    }
}

/// How a build failed, and what to try.
fn failure(recorded: &Recorded, record_only: bool) -> String {
    let first = match &recorded.failed {
        Some(failed) => format!("; first of all: {failed}"),
        None => String::new(),
    };
    let otherwise = match record_only {
        true => ", or build without --record-only",
        false => "",
    };
    format!(
        "the build failed ({}){first}. Units recorded until then: {}. To record more, let it go on after \
         errors (make -k, ninja -k 0){otherwise}",
        recorded.status,
        recorded.entries.len()
    )
}

/// The build's exit status; that of a shell if a signal ended it.
fn status(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(0), _) => CLEAN,
        (Some(code), _) => u8::try_from(code).unwrap_or(FAILED),
        (None, signal) => signal
            .and_then(|signal| u8::try_from(128 + signal).ok())
            .unwrap_or(FAILED),
    }
}

/// Why a build yielded nothing, and what to try.
fn nothing(recorded: &Recorded) -> String {
    let ended = match (recorded.status.success(), &recorded.failed) {
        (true, _) => String::new(),
        (false, Some(failed)) => {
            format!(" and failed ({}; first of all: {failed})", recorded.status)
        }
        (false, None) => format!(" and failed ({})", recorded.status),
    };
    let why = if recorded.called {
        "it called compilers, but compiled no C file that is still there; was all built already? Clean first \
         (`make clean`)"
    } else {
        "it called no compiler that could be seen. Was all built already? Clean first (`make clean`). Is it \
         built on another machine, or in a container? Run the capture there. Is the compiler called otherwise than \
         gcc or clang? Say which to use (`make CC=gcc`). cmake (-DCMAKE_EXPORT_COMPILE_COMMANDS=ON) and meson \
         write compile_commands.json themselves"
    };
    format!("the build yielded no compile command{ended}: {why}")
}
