//! `cassini capture`: record the compile commands of a build.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitStatus;

use anyhow::{Context, bail};

use super::output::{self, WARNING_LABEL};
use super::{CLEAN, FAILED};
use crate::capture::intercept::{self, Build, Entry, Recorded};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Compilers are seen that the build calls by name (cc, gcc, clang, with a version or a target, ccache) or that
CC=/some/path names. One that the build has written down by its path, as cmake and some configure scripts do,
is not: there, configure under the capture too, or have cmake and meson write compile_commands.json themselves.

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
    /// Answer C compilations with empty objects at once; all else runs
    #[arg(long)]
    record_only: bool,
    /// The build, such as `make -j8`
    #[arg(last = true, required = true, value_name = "BUILD")]
    build: Vec<OsString>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let known = match arguments.append && arguments.output.exists() {
        true => {
            let file = arguments.output.display();
            intercept::read(&arguments.output).with_context(|| format!("cannot add to {file}"))?
        }
        false => Vec::new(),
    };
    // The build gets the signal too; what it compiled until then is kept.
    ctrlc::set_handler(|| {})?;
    let recorded = intercept::record(&Build {
        command: arguments.build.clone(),
        record_only: arguments.record_only,
    })?;
    if recorded.entries.is_empty() {
        bail!("{}", nothing(&recorded));
    }
    let count = recorded.entries.len();
    let mut entries: Vec<Entry> = known;
    entries.extend(recorded.entries);
    entries.sort();
    entries.dedup();
    output::write(Some(&arguments.output), |out| {
        intercept::write(out, &entries)
    })?;
    let file = arguments.output.display();
    anstream::eprintln!(
        "{count} compile commands recorded; {file} has {}",
        entries.len()
    );
    if !recorded.status.success() {
        anstream::eprintln!("{WARNING_LABEL}: the build failed ({})", recorded.status);
    }
    Ok(status(recorded.status))
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
    let ended = match recorded.status.success() {
        true => String::new(),
        false => format!(" and failed ({})", recorded.status),
    };
    let why = if recorded.called {
        "it called compilers, but compiled no C file that is still there; was all built already? Clean first \
         (`make clean`)"
    } else {
        "it called no compiler by name. Was all built already? Clean first (`make clean`). Has it the compiler's \
         path written down? Say which to use (`make CC=gcc`), or run its configure script under the capture, too. \
         cmake (-DCMAKE_EXPORT_COMPILE_COMMANDS=ON) and meson write compile_commands.json themselves"
    };
    format!("the build yielded no compile command{ended}: {why}")
}
