//! The command line: parses arguments, calls the library, prints. No analysis here.
//!
//! Exit status: 0 nothing found, 1 findings, 2 could not run, 128 and more a signal. Only this module prints.

mod asked;
mod baseline;
mod calls;
mod capture;
mod check;
mod config;
mod debug;
mod explain;
mod format;
mod lsp;
mod output;
mod progress;
mod query;
mod race;
mod report;
mod serve;
mod shell;
mod signals;
mod table;
mod triage;
mod why;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::capture::intercept;
use crate::source::Inert;
use crate::store;

/// Nothing found.
const CLEAN: u8 = 0;
/// Findings.
const FOUND: u8 = 1;
/// Could not run, or `--strict` and something was lost.
const FAILED: u8 = 2;

/// Finds bugs in C programs.
#[derive(Debug, Parser)]
#[command(name = "cassini", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Analyse a tree and report what is wrong in it
    Check(Box<check::Arguments>),
    /// Record the compile commands of a build
    Capture(capture::Arguments),
    /// Ask the summary database of the last check
    Query(query::Arguments),
    /// Give verdicts on findings, which later checks keep
    Triage(triage::Arguments),
    /// The last check's findings again, in any format, or compared with an earlier report
    Report(report::Arguments),
    /// The last check on a local web page: findings, triage, functions, locks
    Serve(serve::Arguments),
    /// The last check in an editor, and a check of what is saved: a language server over standard input and output
    Lsp(lsp::Arguments),
    /// What a rule means, with an example
    Explain(explain::Arguments),
    /// Find failures that only interleavings of a program's threads have
    Race(race::Arguments),
    /// A script that completes cassini's words in a shell
    Completions(shell::Completions),
    /// The manual pages
    Man(shell::Man),
    /// Print an intermediate form of a function
    Debug(debug::Arguments),
}

/// Where the database is, for commands that read it.
#[derive(Debug, clap::Args)]
struct DatabaseArguments {
    /// The database's folder, or the tree's [default: the last written .cassini here, above or below]
    #[arg(long = "db", value_name = "DIR", global = true)]
    database: Option<PathBuf>,
}

impl DatabaseArguments {
    /// The folder. One that the user may not think of is told.
    fn folder(&self) -> anyhow::Result<PathBuf> {
        if let Some(folder) = &self.database {
            return Ok(store::find::named_folder(folder));
        }
        let here = std::env::current_dir().unwrap_or_default();
        let found = store::find::find_folder(&here)?;
        if found.told {
            let folder = crate::report::from(&here, &found.folder);
            anstream::eprintln!(
                "{}: the last check's database is {} (--db names another)",
                output::NOTE_LABEL,
                Inert(&folder)
            );
        }
        Ok(found.folder)
    }
}

/// Runs the program with the process's arguments.
pub fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some(status) = intercept::become_other(&words) {
        return ExitCode::from(status);
    }
    let arguments = Arguments::parse_from(words);
    let result = match arguments.command {
        Command::Check(arguments) => check::run(*arguments),
        Command::Capture(arguments) => capture::run(&arguments),
        Command::Query(arguments) => query::run(&arguments),
        Command::Triage(arguments) => triage::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Lsp(arguments) => lsp::run(arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Race(arguments) => race::run(arguments),
        Command::Completions(arguments) => shell::completions(&arguments),
        Command::Man(arguments) => shell::man(&arguments),
        Command::Debug(arguments) => debug::run(&arguments),
    };
    match result {
        Ok(status) => ExitCode::from(status),
        Err(error) if output::is_broken_pipe(&error) => ExitCode::from(CLEAN),
        Err(error) => {
            let message = output::message(&error);
            anstream::eprintln!("{}: {}", output::ERROR_LABEL, Inert(&message));
            ExitCode::from(FAILED)
        }
    }
}
