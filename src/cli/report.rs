//! `cassini report`: the findings of the last check again, without analysis.
//!
//! In: the database, and an earlier report to compare with. Out: a report in any format. The exit status tells only whether it could be written.

use std::path::{Path, PathBuf};

use anyhow::Context;

use super::config::Config;
use super::format::{self, Format};
use super::{CLEAN, DatabaseArguments, baseline};
use crate::finding::Level;
use crate::report::{About, Baseline, Contents, Places};
use crate::run::all_rules;
use crate::store::query::Reader;
use crate::triage;
use crate::triage::owners::Owners;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    database: DatabaseArguments,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Say which findings are new since this earlier report (of `--format json` or `sarif`), which are unchanged, and which are fixed
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the report here instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave out what is less certain than this [default: the tree's, or warning]
    #[arg(long, value_enum)]
    level: Option<Level>,
    /// TOML files that define further checkers, for their rules' manual pages
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    checkers: Vec<String>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let folder = arguments.database.folder()?;
    let reader = Reader::open(&folder)?;
    let root = crate::query::root(&reader, &folder)?;
    let about = about(&reader)?;
    let mut entries = reader.entries()?;
    let fixed = match &arguments.baseline {
        Some(file) => Some(baseline::compare(&mut entries, file, &root)?),
        None => None,
    };
    let level = level(arguments.level, &root)?;
    let left_out = triage::select(&mut entries, level, false);
    let contents = Contents {
        root: &root,
        places: &Places::here(&root),
        about: &about,
        rules: &all_rules(&arguments.checkers)?,
        entries: &entries,
        owners: &Owners::load(&root),
        left_out,
        baseline: fixed
            .as_deref()
            .map(|fixed| Baseline { fixed, whole: true }),
    };
    format::write(arguments.format, arguments.output.as_deref(), &contents)?;
    Ok(CLEAN)
}

/// What is said of the last run.
fn about(reader: &Reader) -> anyhow::Result<About> {
    let about = reader.about()?;
    let about = about.context(
        "the last check did not go through to its end, or did not analyse: run `cassini check` again",
    )?;
    serde_json::from_str(&about).context("the database does not say what the last check was about")
}

/// The level that was asked for, or the tree's, or the default.
pub(super) fn level(asked: Option<Level>, root: &Path) -> anyhow::Result<Level> {
    if let Some(level) = asked {
        return Ok(level);
    }
    let (config, _) = Config::load(None, root, false)?;
    Ok(config.level.unwrap_or(Level::Warning))
}
