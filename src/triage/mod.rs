//! What people have said of findings: verdicts, comments in the source, and earlier reports.
//!
//! In: the findings of a run, the verdicts that the database keeps, the comments of the source, an earlier report. Out: each finding as
//! an [`Entry`] with what is said of it, and what a report leaves out for that. Knows neither the database nor how reports look.

pub mod baseline;
pub mod comments;
pub mod owners;
pub mod verdicts;

pub use self::baseline::{Known, State};
pub use self::verdicts::{Judged, Verdict};

use crate::finding::identity::{Identity, recognise};
use crate::finding::{Finding, Level};

/// A finding, and what is said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub finding: Finding,
    /// The verdict that a person has given, and why; on the finding as it was then.
    pub judged: Option<Judged>,
    /// The reason that a comment in the source gives for silence.
    pub ignored: Option<String>,
    /// How it compares with an earlier report, if it was compared.
    pub state: Option<State>,
}

impl Entry {
    /// Whether a verdict says that it is none.
    pub fn is_dismissed(&self) -> bool {
        let judged = self.judged.as_ref();
        judged.is_some_and(|judged| judged.verdict.dismisses())
    }

    /// Whether reports leave it out because of what people say of it.
    pub fn is_silenced(&self) -> bool {
        self.is_dismissed() || self.ignored.is_some()
    }

    pub fn identity(&self) -> Identity<'_> {
        identity_of(&self.finding)
    }
}

fn identity_of(finding: &Finding) -> Identity<'_> {
    Identity {
        fingerprint: &finding.fingerprint,
        file: &finding.file,
    }
}

/// Gives each finding its verdict and the reason of the comment that silences it. A verdict on a finding of a file that is `gone` is
/// taken over to the file's new name.
pub fn entries(
    findings: Vec<Finding>,
    verdicts: &[Judged],
    ignored: Vec<Option<String>>,
    gone: &dyn Fn(&str) -> bool,
) -> Vec<Entry> {
    let present: Vec<Identity<'_>> = findings.iter().map(identity_of).collect();
    let known: Vec<Identity<'_>> = verdicts.iter().map(Judged::identity).collect();
    let found = recognise(&present, &known, gone);
    let mut ignored = ignored.into_iter();
    let entries = findings.into_iter().zip(found);
    entries
        .map(|(finding, known)| Entry {
            judged: known.map(|at| verdicts[at].clone()),
            ignored: ignored.next().flatten(),
            state: None,
            finding,
        })
        .collect()
}

/// Why findings are not in a report, and how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// For a verdict, or for a comment in the source.
    pub verdicts: usize,
    pub comments: usize,
    /// Known to the earlier report.
    pub known: usize,
    /// Less certain than what was asked for.
    pub less_certain: usize,
}

/// The entries of this level and above; `only_new`: of those that an earlier report has, too, one counts as left out.
pub fn select(entries: &mut Vec<Entry>, level: Level, only_new: bool) -> LeftOut {
    let mut left_out = LeftOut::default();
    entries.retain(|entry| {
        let shown = entry.finding.level <= level;
        // Those that an explanation covers are told only on demand.
        if !shown && entry.finding.level <= Level::Note && !entry.is_silenced() {
            left_out.less_certain += 1;
        }
        shown
    });
    for entry in &*entries {
        match entry {
            _ if entry.is_dismissed() => left_out.verdicts += 1,
            Entry {
                ignored: Some(_), ..
            } => left_out.comments += 1,
            _ if only_new && entry.state == Some(State::Unchanged) => left_out.known += 1,
            _ => {}
        }
    }
    left_out
}
