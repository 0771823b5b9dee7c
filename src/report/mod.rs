//! How findings are shown.
//!
//! In: [`Contents`]: findings with what people say of them, and what is said of the whole. Out: [`text`] as a good compiler writes it, [`json`] in
//! the shape of the command-line contract, [`sarif`] for other programs, [`html`] and [`markdown`] for people; and [`summary`]: what a
//! function does, in words of its source. Whatever names, messages and sources hold comes out as text and nothing else.

pub mod excerpt;
pub mod html;
pub mod json;
mod locate;
pub mod markdown;
mod places;
pub mod roles;
pub mod sarif;
pub mod summary;
pub mod text;

pub use places::{Places, from};

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::engine::ledger::Ledger;
use crate::finding::{Finding, Level, identity};
use crate::property::Property;
use crate::triage::owners::Owners;
use crate::triage::{Entry, Known, LeftOut, State};

/// What a report is made of.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// The folder that files are relative to, and their names for the reader.
    pub root: &'a Path,
    pub places: &'a Places,
    pub about: &'a About,
    /// The rules that there are, with their manual pages.
    pub rules: &'a Property,
    /// The findings of the level that was asked for, those that people have silenced among them.
    pub entries: &'a [Entry],
    /// Whose code the tree's files are.
    pub owners: &'a Owners,
    pub left_out: LeftOut,
    /// If the findings were compared with an earlier report.
    pub baseline: Option<Baseline<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub struct Baseline<'a> {
    /// What the earlier report has and no finding is any more.
    pub fixed: &'a [Known],
    /// Unchanged findings are shown, too, and not only new ones.
    pub whole: bool,
}

/// What is said of a run as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The tree, which files are relative to, as the user named it.
    pub root: String,
    pub ledger: Ledger,
    /// What was lost while the tree was read.
    pub failures: Vec<String>,
}

impl<'a> Contents<'a> {
    /// The findings that are shown to a person.
    pub fn shown(&self) -> impl Iterator<Item = &'a Entry> + use<'a> {
        let only_new = self.baseline.is_some_and(|baseline| !baseline.whole);
        self.entries.iter().filter(move |entry| {
            let known = only_new && entry.state == Some(State::Unchanged);
            !entry.is_silenced() && !known
        })
    }

    /// "3 left out by verdicts, 1 by comments"; empty if none is.
    pub fn silenced(&self) -> String {
        silenced(&self.left_out)
    }
}

/// What people have silenced, in words.
pub fn silenced(left_out: &LeftOut) -> String {
    let of = |count: usize, by: &str| (count > 0).then(|| format!("{count} left out by {by}"));
    let parts = [
        of(left_out.verdicts, "verdicts"),
        of(left_out.comments, "comments"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// "file:12:3", or as much of it as is known.
pub fn place(file: &str, line: u32, column: u32) -> String {
    match (line, column) {
        (0, _) => file.to_owned(),
        (line, 0) => format!("{file}:{line}"),
        (line, column) => format!("{file}:{line}:{column}"),
    }
}

/// Puts findings in the order in which they are shown (file, line, rule; those in tests behind all others), each once, with columns that
/// point at the operation where the source can be read. `root` is the folder that their files are
/// relative to.
pub fn arrange(mut findings: Vec<Finding>, root: &Path) -> Vec<Finding> {
    locate::complete(&mut findings, root);
    fn order(finding: &Finding) -> (&str, u32, &str, u32, &str, Level) {
        let Finding {
            file,
            line,
            rule,
            column,
            fingerprint,
            level,
            ..
        } = finding;
        // Of one that is found twice the gravest.
        (file, *line, rule, *column, fingerprint, *level)
    }
    findings.sort_by(|a, b| order(a).cmp(&order(b)));
    let mut findings = identity::distinguish(findings);
    findings.sort_by_key(Finding::is_in_tests);
    findings
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::finding::{Explanation, ExplanationKind, TraceStep};
    use crate::triage::{Judged, Verdict};

    /// The entry of a finding of which nobody has said anything.
    pub(crate) fn entry(finding: Finding) -> Entry {
        Entry {
            finding,
            judged: None,
            ignored: None,
            state: None,
        }
    }

    /// A finding all of whose texts are hostile, with a verdict whose note is, too; and one that a comment silences.
    pub(crate) fn hostile() -> Vec<Entry> {
        let text = HOSTILE;
        let mut finding = finding(text, 3, "f00.aa");
        for part in [
            &mut finding.message,
            &mut finding.function,
            &mut finding.object,
            &mut finding.explanations[0].text,
        ] {
            *part = text.to_owned();
        }
        for step in &mut finding.trace {
            (step.function, step.message) = (text.to_owned(), text.to_owned());
        }
        finding.programs = vec![text.to_owned()];
        let mut judged = Judged::of(&finding, Verdict::Bug);
        judged.note = text.to_owned();
        let open = Entry {
            judged: Some(judged),
            ..entry(finding.clone())
        };
        finding.fingerprint = "f01.aa".to_owned();
        let silenced = Entry {
            ignored: Some(text.to_owned()),
            ..entry(finding)
        };
        vec![open, silenced]
    }

    pub(crate) const HOSTILE: &str =
        "</pre><script>alert(1)</script>\"'&](x)[y] `*_|\u{1b}[31m\u{9b}1m\u{202e}\r\n# {0}\u{7}";

    /// What a renderer writes of these entries.
    pub(crate) fn rendered(
        entries: &[Entry],
        baseline: Option<Baseline<'_>>,
        render: impl Fn(&mut dyn std::io::Write, &Contents<'_>) -> std::io::Result<()>,
    ) -> String {
        let root = Path::new("/nonexistent");
        let (rules, _) = Property::load(&[]);
        let contents = Contents {
            root,
            places: &Places::new(root, root),
            about: &About {
                root: HOSTILE.to_owned(),
                ..About::default()
            },
            rules: &rules,
            entries,
            owners: &Owners::default(),
            left_out: LeftOut::default(),
            baseline,
        };
        let mut out = anstream::StripStream::new(Vec::new());
        render(&mut out, &contents).unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    }

    pub(crate) fn finding(file: &str, line: u32, fingerprint: &str) -> Finding {
        let step = |line, function: &str, depth, message: &str| TraceStep {
            file: file.into(),
            line,
            column: 0,
            function: function.into(),
            depth,
            message: message.into(),
        };
        Finding {
            rule: "lock/double-lock".into(),
            level: Level::Error,
            message: "dev->lock is locked twice".into(),
            retold: None,
            file: file.into(),
            line,
            column: 0,
            function: "probe".into(),
            object: "dev->lock".into(),
            fingerprint: fingerprint.into(),
            explanations: vec![Explanation {
                kind: ExplanationKind::UnusedValue,
                text: "flag == 0".into(),
            }],
            trace: vec![
                step(1, "probe", 0, "spin_lock(&dev->lock) locks dev->lock"),
                step(line, "probe", 0, "calls reset(dev)"),
                step(7, "reset", 1, "spin_lock(&d->lock) locks it again"),
            ],
            filtered: None,
            programs: Vec::new(),
        }
    }

    #[test]
    fn findings_are_sorted_by_place_and_shown_once() {
        let findings = vec![
            finding("b.c", 1, "3"),
            finding("a.c", 9, "2"),
            finding("a.c", 2, "1"),
            finding("a.c", 9, "2"),
            finding("Tests/a.c", 1, "4"),
        ];
        let arranged = arrange(findings, Path::new("/nonexistent"));
        let places: Vec<_> = arranged.iter().map(|f| (f.file.as_str(), f.line)).collect();
        let expected = [("a.c", 2), ("a.c", 9), ("b.c", 1), ("Tests/a.c", 1)];
        assert_eq!(places, expected);
    }
}
