//! `cassini query`: what the last check knows.
//!
//! In: the database and a question. Out: text for a person, or a table as JSON or CSV.

mod calls;
mod function;
mod guards;
mod locks;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::bail;
use clap::Subcommand;
use serde_json::Value;

use super::table::{Table, TableFormat};
use super::{CLEAN, DatabaseArguments, debug, output, why};
use crate::engine::ledger;
use crate::program::Ambiguity;
use crate::query;
use crate::query::calls::Direction;
use crate::report::Places;
use crate::report::roles::Act;
use crate::report::summary::Extent;
use crate::source::inert;
use crate::store::query::{Cell, Failure, Reader};

pub(super) use function::function;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    database: DatabaseArguments,
    /// How the answer is printed: for people, or a table for programs
    #[arg(long, value_enum, default_value_t, global = true)]
    format: TableFormat,
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, Subcommand)]
enum Question {
    /// What a function does to which lock and which memory, when, in words of its source; what was found in it, its callers and callees
    Function {
        /// `name`, `file::name`, a glob, or a part that only one name has
        name: String,
        /// Show long values and long lists whole
        #[arg(long)]
        full: bool,
    },
    /// The functions that call one, as a tree, and what they hold when they do
    Callers {
        /// `name`, `file::name`, a glob, or a part that only one name has
        name: String,
        /// So many calls deep
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
        depth: u32,
    },
    /// The functions that one calls, as a tree, and what is held then
    Callees {
        /// `name`, `file::name`, a glob, or a part that only one name has
        name: String,
        /// So many calls deep
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
        depth: u32,
    },
    /// A shortest chain of calls from one function to another
    Path { from: String, to: String },
    /// Which locks may be held when a function that touches some is entered, and who holds them
    Holds { name: String },
    /// Who takes, gives back, needs and orders a lock
    Lock {
        /// `struct device.lock`, a part of that, a glob, or the lock as the source writes it
        name: String,
        /// Show all functions that use it, however many; JSON and CSV have them always
        #[arg(long)]
        full: bool,
    },
    /// Which lock guards each member of a record, as `cassini race` has found it, and where it is not held
    Guards {
        /// `struct device`, a member, a global, a part of that, or a glob
        name: String,
    },
    /// The functions that always return with a lock of their callers' held, or always give one back
    Wrappers,
    /// The functions that need a lock held, or not held, when they are called
    Requires,
    /// What was found at a place, at any level, and which reading of what is not known makes it no bug
    Why {
        /// `FILE:LINE`
        place: String,
    },
    /// What callers and callees have to see to for nothing to fail in a function
    Spec {
        /// `name`, or `file::name`
        name: String,
    },
    /// How functions use locks: how many touch some, take or give back one for their callers, need one held
    Stats,
    /// What the last check read, and what it could not read, by cause
    Frontend,
    /// What was lost in the last check, and why
    Failures,
    /// Any SQL query that reads the database's tables (`SELECT sql FROM sqlite_schema` lists them)
    Sql { query: String },
}

pub fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let folder = arguments.database.folder()?;
    let reader = Reader::open(&folder)?;
    let places = query::places(&reader, &folder)?;
    let format = arguments.format;
    match &arguments.question {
        Question::Function { name, full } => {
            let extent = if *full { Extent::Full } else { Extent::Short };
            function((&reader, &folder), &places, name, (extent, format))?;
        }
        Question::Callers { name, depth } => {
            let asked = (name.as_str(), *depth as usize);
            let nodes = query::calls::tree(&reader, &places, asked, Direction::Callers)?;
            calls::print_tree(&nodes, &places, format)?;
        }
        Question::Callees { name, depth } => {
            let asked = (name.as_str(), *depth as usize);
            let nodes = query::calls::tree(&reader, &places, asked, Direction::Callees)?;
            calls::print_tree(&nodes, &places, format)?;
        }
        Question::Path { from, to } => {
            let nodes = query::calls::path(&reader, &places, (from, to))?;
            calls::print_tree(&nodes, &places, format)?;
        }
        Question::Holds { name } => {
            let found = query::calls::holds(&reader, &places, name)?;
            calls::print_holders(found, &places, format)?;
        }
        Question::Lock { name, full } => {
            let mut found = query::locks::of_lock(&reader, name)?;
            let short = !full && format == TableFormat::Text;
            let more = match short {
                true => query::locks::shorten(&mut found),
                false => 0,
            };
            if found.is_empty() {
                bail!(
                    "the last check saw no lock `{name}` that functions share with their callers"
                );
            }
            locks::print(&found, &places, format)?;
            if more > 0 {
                output::write_inert(|out| {
                    writeln!(
                        out,
                        "… and {more} more that use it and leave it as it was (--full)"
                    )
                })?;
            }
        }
        Question::Guards { name } => guards::print(&reader, name, &places, format)?,
        Question::Wrappers => {
            let found = query::locks::doing(&reader, Act::wraps)?;
            locks::print(&found, &places, format)?;
        }
        Question::Requires => {
            let found = query::locks::doing(&reader, Act::needs)?;
            locks::print(&found, &places, format)?;
        }
        Question::Why { place } => {
            let root = query::root(&reader, &folder)?;
            why::why(&reader, (&root, &places), place, format)?;
        }
        Question::Spec { name } => debug::specification(&folder, name, format)?,
        Question::Stats => stats(&reader, format)?,
        Question::Frontend => frontend(&reader, &places, format)?,
        Question::Failures => failures(&reader, &places, format)?,
        Question::Sql { query } => sql(&reader, query, format)?,
    }
    Ok(CLEAN)
}

/// Prints the rows of a query. As text they are divided by tabs, for `cut` and the like.
fn sql(reader: &Reader, query: &str, format: TableFormat) -> anyhow::Result<()> {
    let (names, rows) = reader.sql(query).map_err(|error| {
        let error = anyhow::Error::from(error);
        match error.to_string().contains("not authorized") {
            true => error.context("a query can only read the database"),
            false => error,
        }
    })?;
    if format == TableFormat::Text {
        let text = |cell: &Cell| match cell {
            Cell::Null => String::new(),
            Cell::Integer(number) => number.to_string(),
            Cell::Real(number) => number.to_string(),
            Cell::Text(text) => inert(text).replace('\t', "\\t"),
        };
        return output::write_plain(None, |out| {
            writeln!(out, "{}", names.join("\t"))?;
            for row in &rows {
                let cells: Vec<String> = row.iter().map(text).collect();
                writeln!(out, "{}", cells.join("\t"))?;
            }
            Ok(())
        });
    }
    let mut table = Table::new(names);
    for row in rows {
        table.row(row.into_iter().map(|cell| match cell {
            Cell::Null => Value::Null,
            Cell::Integer(number) => number.into(),
            Cell::Real(number) => number.into(),
            Cell::Text(text) => text.into(),
        }));
    }
    table.print(format)
}

/// What was lost, as a table.
fn losses(failures: &[Failure], places: &Places, format: TableFormat) -> anyhow::Result<()> {
    let mut table = Table::new(["stage", "file", "line", "name", "message"]);
    for failure in failures {
        let cells: [Value; 5] = [
            failure.kind.as_str().into(),
            places.name(&failure.file).into(),
            failure.line.into(),
            failure.name.as_deref().map_or(Value::Null, Value::from),
            failure.message.as_str().into(),
        ];
        table.row(cells);
    }
    table.print(format)
}

/// Prints what was read, and each loss under its cause, the commonest first.
fn frontend(reader: &Reader, places: &Places, format: TableFormat) -> anyhow::Result<()> {
    if format != TableFormat::Text {
        return losses(&reader.losses()?, places, format);
    }
    let reading = reader.reading()?;
    let mut causes: BTreeMap<(String, String), Vec<Failure>> = BTreeMap::new();
    for loss in reader.losses()? {
        let cause = (loss.kind.clone(), ledger::cause(&loss.message));
        causes.entry(cause).or_default().push(loss);
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|(_, losses)| Reverse(losses.len()));
    output::write_plain(None, |out| {
        writeln!(out, "{reading}; {} bytes preprocessed", reading.bytes)?;
        for ((stage, cause), losses) in &causes {
            writeln!(out, "\n{} × {stage}: {cause}", losses.len())?;
            for loss in losses {
                write!(out, "  ")?;
                write_failure(out, places, loss)?;
            }
        }
        Ok(())
    })
}

fn failures(reader: &Reader, places: &Places, format: TableFormat) -> anyhow::Result<()> {
    let failures = reader.failures()?;
    if format != TableFormat::Text {
        return losses(&failures, places, format);
    }
    let ambiguous = reader.ambiguous()?;
    let unfinished = reader.unfinished()?;
    output::write_plain(None, |out| {
        for failure in &failures {
            write_failure(out, places, failure)?;
        }
        for ambiguity in &ambiguous {
            let name = |place: &String| places.name(place).to_string();
            let ambiguity = Ambiguity {
                caller: name(&ambiguity.caller),
                taken: name(&ambiguity.taken),
                others: ambiguity.others.iter().map(name).collect(),
                name: ambiguity.name.clone(),
            };
            writeln!(out, "{}: note: {ambiguity}", ambiguity.taken)?;
        }
        if unfinished > 0 {
            writeln!(
                out,
                "{unfinished} functions were not reached: the last check was stopped"
            )?;
        }
        Ok(())
    })
}

/// Prints the statistics of paper §6.2.
fn stats(reader: &Reader, format: TableFormat) -> anyhow::Result<()> {
    let lines = reader.lock_counts()?.lines();
    if format != TableFormat::Text {
        let mut table = Table::new(["functions that", "count"]);
        for (count, what) in lines {
            table.row([Value::from(what), count.into()]);
        }
        return table.print(format);
    }
    output::write_plain(None, |out| {
        writeln!(out, "functions that")?;
        for (count, what) in lines {
            writeln!(out, "{count:8}  {what}")?;
        }
        Ok(())
    })
}

fn write_failure(out: &mut dyn Write, places: &Places, failure: &Failure) -> io::Result<()> {
    let Failure {
        kind,
        file,
        line,
        name,
        message,
    } = failure;
    let file = places.name(file);
    match (line, name) {
        (0, _) => writeln!(out, "{file}: (unit): {kind}: {message}"),
        (_, Some(name)) => writeln!(out, "{file}:{line}: {name}: {kind}: {message}"),
        (_, None) => writeln!(out, "{file}:{line}: (declaration): {kind}: {message}"),
    }
}
