//! `cassini debug`: every intermediate form of a function, printed.

mod eval;
mod layouts;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Subcommand;
use serde_json::Value;

use super::table::{Table, TableFormat};
use super::{CLEAN, DatabaseArguments, output, query};
use crate::capture;
use crate::engine::filtering::Told;
use crate::engine::function;
use crate::frontend::dialect::Dialect;
use crate::frontend::model::QUESTIONS;
use crate::ir;
use crate::query::{names, specification};
use crate::report::summary::Extent;
use crate::run::passes;
use crate::store::query::{FunctionRow, Reader};
use crate::symbolic::limits::Limits;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    database: DatabaseArguments,
    #[command(subcommand)]
    form: Form,
}

#[derive(Debug, Subcommand)]
enum Form {
    /// The lowered body: the Saturn language
    Ir {
        /// `name`, or `file::name`
        name: String,
    },
    /// Its symbolic execution: guard and result at the exit, memory written, states of objects
    Terms {
        /// `name`, or `file::name`
        name: String,
        /// How often a loop's body is executed
        #[arg(long, default_value_t = 2)]
        unroll: u32,
    },
    /// Its locations and checks as the filters see them, with what each filter answers
    View {
        /// `name`, or `file::name`
        name: String,
        /// Drop the clauses of specifications that have more literals than this
        #[arg(long, value_name = "K")]
        clauses: Option<u32>,
    },
    /// Run a preprocessed C program on the Saturn language and print what it prints
    #[command(hide = true)]
    Eval {
        /// A preprocessed unit that defines `main`
        file: PathBuf,
        /// Blocks to be executed at most
        #[arg(long, default_value_t = 200_000_000)]
        steps: u64,
        /// The compiler and its arguments
        #[arg(last = true)]
        compiler: Vec<OsString>,
    },
    /// The layouts of the types that a preprocessed unit defines
    #[command(hide = true)]
    Layouts {
        /// A preprocessed unit
        file: PathBuf,
        /// The compiler and its arguments
        #[arg(last = true)]
        compiler: Vec<OsString>,
    },
    /// The summary, as `cassini query function`
    Summary {
        /// `name`, or `file::name`
        name: String,
    },
}

pub fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    match &arguments.form {
        Form::Layouts { file, compiler } => return layouts::run(file, compiler),
        Form::Eval {
            file,
            steps,
            compiler,
        } => return eval::run(file, *steps, compiler),
        _ => {}
    }
    let folder = arguments.database.folder()?;
    match &arguments.form {
        Form::Layouts { .. } | Form::Eval { .. } => {}
        Form::Summary { name } => {
            let reader = Reader::open(&folder)?;
            let places = crate::query::places(&reader, &folder)?;
            query::function(
                (&reader, &folder),
                &places,
                name,
                (Extent::Full, TableFormat::Text),
            )?;
        }
        Form::Ir { name } => {
            let (body, _) = specification::body(&folder, &single(&folder, name)?)?;
            output::write_plain(None, |out| write!(out, "{}", ir::print::print(&body)))?;
        }
        Form::View { name, clauses } => filtered(&folder, name, Told::View(*clauses))?,
        Form::Terms { name, unroll } => {
            let limits = Limits {
                unroll: *unroll,
                ..Limits::default()
            };
            let (passes, _) = passes(&[], false)?;
            let pass = passes.first().context("no checker is in force")?;
            let row = single(&folder, name)?;
            let text = specification::with_callees(&folder, &row, pass, |body, callees| {
                function::describe(body, callees, &pass.property, &limits)
            })?;
            output::write_plain(None, |out| write!(out, "{text}"))?;
        }
    }
    Ok(CLEAN)
}

/// Prints a function as the filters see it.
pub(super) fn filtered(folder: &Path, name: &str, told: Told) -> anyhow::Result<()> {
    let row = single(folder, name)?;
    let text = specification::filtered(folder, &row, told)?;
    output::write_plain(None, |out| write!(out, "{text}"))
}

/// Prints what callers and callees have to see to for nothing to fail in a function.
pub(super) fn specification(folder: &Path, name: &str, format: TableFormat) -> anyhow::Result<()> {
    if format == TableFormat::Text {
        return filtered(folder, name, Told::Specification);
    }
    let row = single(folder, name)?;
    let text = specification::filtered(folder, &row, Told::Specification)?;
    let mut table = Table::new(["function", "filter", "specification"]);
    let mut filter = "";
    for line in text.lines() {
        match line.strip_prefix("  ") {
            // What follows the name of a filter is for people.
            None => filter = line.split(':').next().unwrap_or(line),
            Some(said) => table.row([row.name.name.as_str(), filter, said].map(Value::from)),
        }
    }
    table.print(format)
}

/// What a command line makes of the language.
fn dialect(compiler: &[OsString]) -> Dialect {
    let Some((program, arguments)) = compiler.split_first() else {
        return Dialect::default();
    };
    let answer = capture::assembly(Path::new(program), arguments, QUESTIONS);
    let arguments = arguments.iter().filter_map(|argument| argument.to_str());
    Dialect::of(answer.as_deref(), &program.to_string_lossy(), arguments)
}

/// The one function that is meant.
fn single(folder: &Path, name: &str) -> anyhow::Result<FunctionRow> {
    let reader = Reader::open(folder)?;
    let places = crate::query::places(&reader, folder)?;
    names::one(&reader, &places, name)
}
