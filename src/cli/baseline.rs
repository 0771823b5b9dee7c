//! `--baseline`: which findings are new since an earlier report.
//!
//! In: the report's file, of `--format json` or `sarif`, and the findings of now. Out: the state of each, and what is fixed.

use std::fs;
use std::path::Path;

use anyhow::Context;

use crate::triage::Entry;
use crate::triage::baseline::{self, Known};

/// Sets the state of each entry, and answers what is fixed. `root` is the tree.
pub fn compare(entries: &mut [Entry], file: &Path, root: &Path) -> anyhow::Result<Vec<Known>> {
    let name = file.display();
    let bytes = fs::read(file).with_context(|| name.to_string())?;
    let known = baseline::read(&bytes).map_err(|error| anyhow::anyhow!("{name} {error}"))?;
    let gone = |file: &str| !root.join(file).exists();
    Ok(baseline::compare(entries, known, &gone))
}
