//! `cassini debug`: every intermediate form of a function, printed.

mod eval;
mod layouts;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Subcommand;
use parking_lot::Mutex;

use super::{CLEAN, DatabaseArguments, output, query};
use crate::capture;
use crate::engine::filtering::{self, Told};
use crate::engine::function::{self, Options};
use crate::frontend::dialect::Dialect;
use crate::frontend::model::QUESTIONS;
use crate::ir::{self, Body};
use crate::report::summary::Extent;
use crate::run::{Pass, passes};
use crate::store::Bodies;
use crate::store::callees::StoredCallees;
use crate::store::query::{FunctionRow, Reader, open_bodies};
use crate::symbolic::callee::Callees;
use crate::symbolic::limits::Limits;

/// The checkers whose failures go through the filters.
const MEMORY: [&str; 4] = ["heap", "null", "file", "assert"];

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
            let places = query::places(&reader, &folder)?;
            query::function(&reader, &places, name, Extent::Full)?;
        }
        Form::Ir { name } => {
            let (_, body, _) = open(&folder, name)?;
            output::write_plain(None, |out| write!(out, "{}", ir::print::print(&body)))?;
        }
        Form::View { name, clauses } => filtered(&folder, name, Told::View(*clauses))?,
        Form::Terms { name, unroll } => {
            let limits = Limits {
                unroll: *unroll,
                ..Limits::default()
            };
            let (passes, _) = passes(&[])?;
            let pass = passes.first().context("no checker is in force")?;
            tell(&folder, name, pass, |body, callees| {
                function::describe(body, callees, &pass.property, &limits)
            })?;
        }
    }
    Ok(CLEAN)
}

/// Prints a function as the filters see it.
pub(super) fn filtered(folder: &Path, name: &str, told: Told) -> anyhow::Result<()> {
    let (passes, _) = passes(&MEMORY.map(str::to_owned))?;
    let pass = passes.first().context("no checker is in force")?;
    tell(folder, name, pass, |body, callees| {
        filtering::describe(body, callees, &pass.property, &Options::default(), told)
    })
}

/// Prints what is made of a stored body and what is known of its callees.
fn tell(
    folder: &Path,
    name: &str,
    pass: &Pass,
    text: impl Fn(&Body, &dyn Callees) -> String,
) -> anyhow::Result<()> {
    let (row, body, bodies) = open(folder, name)?;
    let callees = StoredCallees {
        reader: Mutex::new(Reader::open(folder)?),
        bodies: &bodies,
        seeds: &pass.seeds,
        function: row.id,
        accesses: pass.property.watches_accesses(),
    };
    let text = text(&body, &callees);
    output::write_plain(None, |out| write!(out, "{text}"))
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

/// A function of the database with its body.
fn open(folder: &Path, name: &str) -> anyhow::Result<(FunctionRow, Arc<Body>, Bodies)> {
    let reader = Reader::open(folder)?;
    let places = query::places(&reader, folder)?;
    let row = query::single(&reader, &places, name)?;
    let Some(key) = row.body else {
        bail!(
            "{name} has no body: {}",
            row.reason.as_deref().unwrap_or("it was not read")
        );
    };
    let bodies = open_bodies(folder)?;
    let body = bodies.get(key).with_context(|| {
        format!("the body of {name} is not in the cache; run `cassini check` again")
    })?;
    Ok((row, body, bodies))
}
