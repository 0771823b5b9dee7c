//! The source around the steps of a finding's trace.
//!
//! In: a finding and the source. Out: for each file that the trace goes through, in that order, the lines around its steps, with the steps that
//! lie in each line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::finding::Finding;
use crate::source::Sources;

/// Lines that a report shows before and behind each step.
pub const AROUND: u32 = 2;
/// A longer line is cut off.
const LENGTH: usize = 400;

/// The shown lines of one file.
#[derive(Debug, PartialEq, Eq)]
pub struct Excerpt<'f> {
    pub file: &'f str,
    pub lines: Vec<Line>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    /// 1-based; 0: of steps without a line.
    pub number: u32,
    /// `None` if the source cannot be read.
    pub text: Option<String>,
    /// Lines are left out between this one and the one before.
    pub gap: bool,
    /// The steps that lie here, as indices into the trace.
    pub steps: Vec<usize>,
    /// The finding is reported here.
    pub reported: bool,
}

/// The excerpts that show a finding's trace, with so many lines before and behind each step.
pub fn excerpts<'f>(
    finding: &'f Finding,
    root: &Path,
    sources: &mut Sources,
    around: u32,
) -> Vec<Excerpt<'f>> {
    let mut files: Vec<&str> = Vec::new();
    let mut steps: BTreeMap<(&str, u32), Vec<usize>> = BTreeMap::new();
    for (index, step) in finding.trace.iter().enumerate() {
        if !files.contains(&&*step.file) {
            files.push(&step.file);
        }
        steps
            .entry((&step.file, step.line))
            .or_default()
            .push(index);
    }
    if !files.contains(&&*finding.file) {
        files.push(&finding.file);
    }
    steps.entry((&finding.file, finding.line)).or_default();
    let excerpt = |file: &'f str| {
        let known = sources.lines(root, file).unwrap_or_default();
        let last = u32::try_from(known.len()).unwrap_or(u32::MAX);
        let mut shown: BTreeSet<u32> = BTreeSet::new();
        for (_, line) in steps.keys().filter(|(of, _)| *of == file) {
            shown.insert(*line);
            let near = line.saturating_sub(around).max(1)..=line.saturating_add(around).min(last);
            shown.extend(near.filter(|_| *line > 0));
        }
        let mut before = None;
        let line = |number: u32| {
            let gap = before.is_some_and(|before| number > before + 1);
            before = Some(number);
            let text = number.checked_sub(1).and_then(|at| known.get(at as usize));
            Line {
                number,
                text: text.map(|text| text.chars().take(LENGTH).collect()),
                gap,
                steps: steps.get(&(file, number)).cloned().unwrap_or_default(),
                reported: (file, number) == (&*finding.file, finding.line),
            }
        };
        Excerpt {
            file,
            lines: shown.into_iter().map(line).collect(),
        }
    };
    files.into_iter().map(excerpt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::finding;

    #[test]
    fn the_lines_around_each_step_are_shown_with_gaps_between() {
        let folder = tempfile::tempdir().unwrap();
        let text: String = (1..=30).map(|line| format!("line {line}\n")).collect();
        std::fs::write(folder.path().join("a.c"), text).unwrap();
        let mut finding = finding("a.c", 20, "1");
        finding.trace[2].file = "gone.c".into();
        let found = excerpts(&finding, folder.path(), &mut Sources::default(), AROUND);
        assert_eq!(found.len(), 2);
        let numbers: Vec<u32> = found[0].lines.iter().map(|line| line.number).collect();
        assert_eq!(numbers, [1, 2, 3, 18, 19, 20, 21, 22]);
        let gaps: Vec<u32> = found[0]
            .lines
            .iter()
            .filter(|l| l.gap)
            .map(|l| l.number)
            .collect();
        assert_eq!(gaps, [18]);
        assert_eq!(found[0].lines[0].steps, [0]);
        let line = &found[0].lines[5];
        assert_eq!((line.steps.as_slice(), line.reported), (&[1][..], true));
        // The file is not there, and the step is shown all the same.
        assert_eq!(
            (found[1].lines[0].number, &found[1].lines[0].text),
            (7, &None)
        );
    }
}
