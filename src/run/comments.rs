//! The comments of a tree's own files that silence findings.
//!
//! In: the program and its findings. Out: the reason for silence of each finding, and a warning for each comment that does nothing.

use std::collections::BTreeSet;
use std::path::Path;

use super::{RunError, Task};
use crate::capture::{Place, Problem, Severity};
use crate::finding::Finding;
use crate::program::Program;
use crate::property::Property;
use crate::source;
use crate::triage::comments::{self, Comment};

pub(super) fn apply(
    task: &Task<'_>,
    program: &Program,
    findings: &[Finding],
    root: &Path,
) -> Result<(Vec<Option<String>>, Vec<Problem>), RunError> {
    let units = program.units.iter().map(|unit| unit.source.as_str());
    let own = program.functions.iter().filter(|function| function.own);
    let files: BTreeSet<&str> = own
        .map(|function| function.file.as_str())
        .chain(units)
        .filter(|file| !task.settings.exclude.leaves_out(file))
        .collect();
    let mut found: Vec<Comment> = Vec::new();
    for file in files {
        // A file that cannot be read any more says nothing.
        if let Ok(bytes) = source::read_regular(&root.join(file), source::LIMIT) {
            found.extend(comments::read(file, &String::from_utf8_lossy(&bytes)));
        }
    }
    let ids = |rules: &Property| -> Vec<String> { rules.rules().map(|r| r.id.clone()).collect() };
    let known = ids(&super::all_rules(&task.settings.checkers)?)
        .into_iter()
        .collect();
    let in_force = task
        .passes
        .iter()
        .flat_map(|pass| ids(&pass.property))
        .collect();
    let (reasons, complaints) = comments::apply(&found, findings, &known, &in_force);
    let problems = complaints.into_iter().map(|complaint| {
        let place = Place {
            file: complaint.file,
            line: complaint.line,
            column: 0,
        };
        Problem::new(Severity::Warning, Some(place), complaint.message)
    });
    Ok((reasons, problems.collect()))
}
