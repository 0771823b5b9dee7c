//! `--baseline`: findings that an earlier report has already are not reported again.

use std::fs;
use std::path::Path;

use anyhow::Context;
use rustc_hash::FxHashSet;
use serde::Deserialize;

use crate::finding::Finding;

/// What is read of an earlier `--format json` report.
#[derive(Deserialize)]
struct Report {
    findings: Vec<Known>,
}

#[derive(Deserialize)]
struct Known {
    fingerprint: String,
}

/// Takes out the findings that the report in `file` has; answers how many those were.
pub fn subtract(findings: &mut Vec<Finding>, file: &Path) -> anyhow::Result<usize> {
    let name = || file.display().to_string();
    let bytes = fs::read(file).with_context(name)?;
    let report: Report = serde_json::from_slice(&bytes)
        .with_context(|| format!("{} is no report of `check --format json`", name()))?;
    let known: FxHashSet<String> = report
        .findings
        .into_iter()
        .map(|known| known.fingerprint)
        .collect();
    let before = findings.len();
    findings.retain(|finding| !known.contains(&finding.fingerprint));
    Ok(before - findings.len())
}
