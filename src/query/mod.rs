//! Answers about the last run, for all that show them: the command line and the web page.
//!
//! In: the database, and a question. Out: rows and texts as values. Prints nothing.

pub mod calls;
pub mod constants;
pub mod findings;
pub mod locks;
pub mod names;
pub mod specification;

use std::path::{Path, PathBuf};

use crate::report::Places;
use crate::store::query::{FunctionRow, Reader};
use crate::summary::Summary;
use crate::summary::seeds::{Replaces, Seed, Seeds};

/// Names the files of the tree that the database is about.
pub fn places(reader: &Reader, folder: &Path) -> anyhow::Result<Places> {
    Ok(Places::here(&root(reader, folder)?))
}

/// The tree that the database is about.
pub fn root(reader: &Reader, folder: &Path) -> anyhow::Result<PathBuf> {
    let root = reader.root()?;
    Ok(folder.join(root.as_deref().unwrap_or("..")))
}

/// Shows once what is the same in several programs. (A function compiled in two ways mostly has one summary, too.)
pub fn merge_variants(shown: &mut Vec<(FunctionRow, Option<Summary>)>) {
    let mut merged: Vec<(FunctionRow, Option<Summary>)> = Vec::new();
    for (mut later, later_summary) in std::mem::take(shown) {
        let same = |(row, summary): &&mut (FunctionRow, Option<Summary>)| {
            (&later.file, later.line, &later.outcome) == (&row.file, row.line, &row.outcome)
                && later_summary == *summary
        };
        match merged.iter_mut().find(same) {
            None => merged.push((later, later_summary)),
            Some((row, _)) => {
                let any = row.programs.is_empty() || later.programs.is_empty();
                row.programs.append(&mut later.programs);
                row.programs.sort_unstable();
                if any {
                    row.programs.clear();
                }
            }
        }
    }
    *shown = merged;
    let places: Vec<_> = shown
        .iter()
        .map(|(row, _)| (row.file.clone(), row.line))
        .collect();
    for ((row, _), place) in shown.iter_mut().zip(&places) {
        // It is the same in all.
        if places.iter().filter(|other| *other == place).count() == 1 {
            row.programs.clear();
        }
    }
}

/// What callers see of a function's dealings with memory and files, if the last run looked at those and there is any.
pub fn memory_of(reader: &Reader, row: &FunctionRow) -> anyhow::Result<Option<Summary>> {
    let result = row.access_result.map(|key| reader.result(key));
    let summary = result.transpose()?.flatten().map(|result| result.summary);
    Ok(summary.filter(|summary| {
        !summary.is_noop() || !summary.modified.is_empty() || !summary.uses.is_empty()
    }))
}

/// What is known of a function beforehand and its callers go by, whatever its body does.
pub fn seed_of<'s>(reader: &Reader, row: &FunctionRow, seeds: &'s Seeds) -> Option<&'s Seed> {
    let seed = seeds.get(&row.name.name)?;
    let stands = match seed.replaces {
        Replaces::None => false,
        Replaces::Freestanding => !reader.is_hosted(row),
        Replaces::All => true,
    };
    (row.outcome.as_deref() == Some("seeded") || !row.own || stands).then_some(seed)
}

/// What callers see of a function, if the last run has it.
pub fn summary_of(
    reader: &Reader,
    row: &FunctionRow,
    seeds: &Seeds,
) -> anyhow::Result<Option<Summary>> {
    if let Some(seed) = seed_of(reader, row, seeds) {
        return Ok(Some((*seed.summary).clone()));
    }
    let Some(key) = row.result else {
        return Ok(None);
    };
    Ok(reader.result(key)?.map(|result| result.summary))
}
