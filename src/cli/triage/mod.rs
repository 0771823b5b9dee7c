//! `cassini triage`: what people say of the last check's findings, and what of it stays.
//!
//! In: the database, and verdicts from the command line, keys or a file. Out: lists and counts of findings as judged; verdicts in the
//! database, which every later check keeps.

mod keys;
mod walk;

use std::cmp::Ordering;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Subcommand, ValueEnum};
use serde_json::Value;

use super::table::{Table, TableFormat};
use super::{CLEAN, DatabaseArguments, baseline, output, report};
use crate::finding::{Level, identity};
use crate::query::findings::{
    Accuracy, FilePattern, Selection, Wanted, accuracy, by_rank, find, judgement,
};
use crate::report::{Places, text};
use crate::source::Inert;
use crate::store::query::Reader;
use crate::store::verdicts::Verdicts;
use crate::triage::owners::Owners;
use crate::triage::{Entry, Judged, State, Verdict, verdicts};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    database: DatabaseArguments,
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// The findings, with their ids and verdicts
    List(List),
    /// Findings whole: path, explanations, verdict
    Show {
        /// The id that reports and lists have for a finding, or its beginning
        #[arg(required = true)]
        id: Vec<String>,
    },
    /// Give a verdict on a finding. Checks leave out what is judged false-positive or intended
    Set {
        /// The id that reports and lists have for the finding, or its beginning
        id: String,
        #[arg(value_enum)]
        verdict: Verdict,
        /// Why
        #[arg(long, default_value = "")]
        note: String,
    },
    /// Take the verdict on a finding back
    Clear { id: String },
    /// Walk through the findings without a verdict, one key each: from a terminal, or from a pipe
    Next {
        /// Leave out what is less certain than this [default: the tree's, or warning]
        #[arg(long, value_enum)]
        level: Option<Level>,
    },
    /// Count verdicts by rule: how often each rule was right, as judged
    Stats {
        #[arg(long, value_enum, default_value_t)]
        format: TableFormat,
    },
    /// Write all verdicts as text: one a line, sorted, to be kept under version control
    Export {
        /// [default: standard output]
        file: Option<PathBuf>,
    },
    /// Take over the verdicts of a file that `export` has written
    Import { file: PathBuf },
}

#[derive(Debug, clap::Args)]
struct List {
    /// Of this rule, or of all whose names begin so (`lock`)
    #[arg(long)]
    rule: Option<String>,
    /// In this file or folder, or in files that match this glob
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// In a file of this owner, as the tree's CODEOWNERS or MAINTAINERS names it; a part of the name will do
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// With this verdict, or with none
    #[arg(long, value_enum)]
    verdict: Option<Wanted>,
    #[arg(long, value_enum, default_value_t)]
    by: Order,
    /// Say which findings are new since this earlier report (of `--format json` or `sarif`), and which are unchanged
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Only those that are new, or only those that are not
    #[arg(long, value_enum, requires = "baseline")]
    state: Option<State>,
    /// Leave out what is less certain than this [default: the tree's, or warning]
    #[arg(long, value_enum)]
    level: Option<Level>,
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Order {
    /// The gravest and surest first
    #[default]
    Rank,
    Rule,
    File,
    Owner,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let folder = arguments.database.folder()?;
    match &arguments.task {
        Task::List(asked) => list(&folder, asked)?,
        Task::Show { id } => show(&folder, id)?,
        Task::Set { id, verdict, note } => set(&folder, id, *verdict, note)?,
        Task::Clear { id } => clear(&folder, id)?,
        Task::Next { level } => walk::walk(&folder, *level)?,
        Task::Stats { format } => stats(&folder, *format)?,
        Task::Export { file } => export(&folder, file.as_deref())?,
        Task::Import { file } => import(&folder, file)?,
    }
    Ok(CLEAN)
}

fn list(folder: &Path, asked: &List) -> anyhow::Result<()> {
    let reader = Reader::open(folder)?;
    let root = crate::query::root(&reader, folder)?;
    let places = Places::here(&root);
    let level = report::level(asked.level, &root)?;
    let mut all = reader.entries()?;
    if let Some(file) = &asked.baseline {
        baseline::compare(&mut all, file, &root)?;
    }
    let fingerprints: Vec<&str> = all.iter().map(|e| &*e.finding.fingerprint).collect();
    let owners = Owners::load(&root);
    if asked.owner.is_some() && !owners.has_any() {
        bail!("the tree has no CODEOWNERS and no MAINTAINERS that name owners of files");
    }
    let selection = Selection {
        level,
        rule: asked.rule.as_deref(),
        file: asked.file.as_deref().map(FilePattern::new).transpose()?,
        verdict: asked.verdict,
        owner: asked.owner.as_deref().map(|name| (name, &owners)),
        ..Selection::default()
    };
    let ids = identity::short(&fingerprints);
    let mut rows: Vec<(&Entry, &str)> = all.iter().zip(ids).collect();
    rows.retain(|(entry, _)| selection.has(entry, &places));
    rows.retain(|(entry, _)| asked.state.is_none_or(|state| entry.state == Some(state)));
    rows.sort_by(|(a, _), (b, _)| match asked.by {
        Order::Rank => by_rank(a, b),
        Order::Rule => a.finding.rule.cmp(&b.finding.rule).then(by_rank(a, b)),
        Order::File => by_file(a, b),
        Order::Owner => by_owner(a, b, &owners).then(by_rank(a, b)),
    });
    let names = [
        "id", "level", "verdict", "rule", "file", "line", "message", "note", "owner",
    ];
    let state = asked.baseline.is_some().then_some("state");
    let mut table = Table::new(names.into_iter().chain(state));
    for (entry, id) in rows {
        let finding = &entry.finding;
        let (verdict, note) = judgement(entry);
        let cells: [Value; 9] = [
            id.into(),
            finding.level.name().into(),
            verdict.into(),
            finding.rule.as_str().into(),
            places.name(&finding.file).into(),
            finding.line.into(),
            finding.message.as_str().into(),
            note.into(),
            owners.of(&finding.file).join(", ").into(),
        ];
        let state = entry.state.map(|state| Value::from(state.name()));
        table.row(cells.into_iter().chain(state));
    }
    table.print(asked.format)
}

fn by_file(a: &Entry, b: &Entry) -> Ordering {
    let place = |entry: &Entry| (entry.finding.line, entry.finding.column);
    let file = a.finding.file.cmp(&b.finding.file);
    file.then_with(|| place(a).cmp(&place(b)))
}

/// By the owners' names; what nobody owns comes last.
fn by_owner(a: &Entry, b: &Entry, owners: &Owners) -> Ordering {
    let of = |entry: &Entry| owners.of(&entry.finding.file).to_vec();
    let (a, b) = (of(a), of(b));
    (a.is_empty(), a).cmp(&(b.is_empty(), b))
}

fn show(folder: &Path, ids: &[String]) -> anyhow::Result<()> {
    let reader = Reader::open(folder)?;
    let root = crate::query::root(&reader, folder)?;
    let entries = reader.entries()?;
    let found = ids.iter().map(|id| find(&entries, id));
    let found = found.collect::<anyhow::Result<Vec<&Entry>>>()?;
    output::write(None, |out| {
        text::write(out, &found, &root, &Places::here(&root))
    })
}

fn set(folder: &Path, id: &str, verdict: Verdict, note: &str) -> anyhow::Result<()> {
    let entries = Reader::open(folder)?.entries()?;
    let entry = find(&entries, id)?;
    let judged = Judged {
        note: note.to_owned(),
        ..Judged::of(&entry.finding, verdict)
    };
    let mut verdicts = Verdicts::open(folder)?;
    verdicts.put(&[judged])?;
    verdicts.close()?;
    let message = Inert(&entry.finding.message);
    anstream::eprintln!("{}: {message}", verdict.name());
    Ok(())
}

fn clear(folder: &Path, id: &str) -> anyhow::Result<()> {
    let reader = Reader::open(folder)?;
    let judged = reader.verdicts()?;
    drop(reader);
    let mut found = judged
        .iter()
        .filter(|judged| judged.fingerprint.starts_with(id));
    let (Some(judged), None) = (found.next(), found.next()) else {
        bail!("there is not one verdict on a finding `{id}`");
    };
    let mut verdicts = Verdicts::open(folder)?;
    verdicts.remove(&judged.fingerprint)?;
    verdicts.close()?;
    Ok(())
}

fn stats(folder: &Path, format: TableFormat) -> anyhow::Result<()> {
    let reader = Reader::open(folder)?;
    let rules = accuracy(reader.verdicts()?, &reader.entries()?);
    let names = Verdict::ALL.map(Verdict::name);
    let mut table = Table::new([&["rule"][..], &names, &["open", "accuracy"]].concat());
    for (rule, count) in rules {
        let percent = count.percent();
        let accuracy = percent.map_or(Value::Null, |percent| format!("{percent} %").into());
        let Accuracy { verdicts, open } = count;
        let counts = verdicts.map(Value::from);
        let cells = std::iter::once(Value::from(rule)).chain(counts);
        table.row(cells.chain([open.into(), accuracy]));
    }
    table.print(format)
}

fn export(folder: &Path, file: Option<&Path>) -> anyhow::Result<()> {
    let text = verdicts::to_text(&Reader::open(folder)?.verdicts()?);
    output::write(file, |out| out.write_all(text.as_bytes()))
}

fn import(folder: &Path, file: &Path) -> anyhow::Result<()> {
    let name = file.display();
    let text = fs::read_to_string(file).with_context(|| name.to_string())?;
    let found = verdicts::from_text(&text).with_context(|| name.to_string())?;
    let mut database = Verdicts::open(folder)?;
    database.put(&found)?;
    database.close()?;
    let s = if found.len() == 1 { "" } else { "s" };
    anstream::eprintln!("{} verdict{s} taken over", found.len());
    Ok(())
}
