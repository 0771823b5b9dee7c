//! Which findings a person asks for, and in which order.
//!
//! In: the findings of the last run with what people say of them, and what is asked for. Out: those that are meant, the gravest first.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};
use clap::ValueEnum;

use crate::finding::{Filter, Level};
use crate::report::Places;
use crate::triage::owners::Owners;
use crate::triage::{Entry, Judged, Verdict};

/// What a finding is judged, or that it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Wanted {
    Open,
    Bug,
    FalsePositive,
    Intended,
    Later,
}

impl Wanted {
    pub const ALL: [Wanted; 5] = [
        Wanted::Open,
        Wanted::Bug,
        Wanted::FalsePositive,
        Wanted::Intended,
        Wanted::Later,
    ];

    /// The name that the command line and the page's addresses have for it.
    pub fn name(self) -> &'static str {
        match self {
            Wanted::Open => "open",
            Wanted::Bug => Verdict::Bug.name(),
            Wanted::FalsePositive => Verdict::FalsePositive.name(),
            Wanted::Intended => Verdict::Intended.name(),
            Wanted::Later => Verdict::Later.name(),
        }
    }

    /// Whether a finding is judged so.
    pub fn is(self, entry: &Entry) -> bool {
        let verdict = entry.judged.as_ref().map(|judged| judged.verdict);
        verdict
            == match self {
                Wanted::Open => return verdict.is_none() && entry.ignored.is_none(),
                Wanted::Bug => Some(Verdict::Bug),
                Wanted::FalsePositive => Some(Verdict::FalsePositive),
                Wanted::Intended => Some(Verdict::Intended),
                Wanted::Later => Some(Verdict::Later),
            }
    }
}

/// What is asked of a finding. Without a wish all findings of the level and above are meant.
#[derive(Debug)]
pub struct Selection<'a> {
    pub level: Level,
    /// A rule, or what a group of rules begins with.
    pub rule: Option<&'a str>,
    pub file: Option<FilePattern<'a>>,
    /// The function that a finding is reported in.
    pub function: Option<&'a str>,
    /// The strictest filter that reports a finding is this one or a stricter one.
    pub filter: Option<Filter>,
    pub verdict: Option<Wanted>,
    /// Part of the message, object, function, file or note, whatever the case of its letters.
    pub text: Option<&'a str>,
    /// Part of the name of an owner of the finding's file, whatever the case of its letters, and the owners.
    pub owner: Option<(&'a str, &'a Owners)>,
}

impl Default for Selection<'_> {
    fn default() -> Self {
        Selection {
            level: Level::Warning,
            rule: None,
            file: None,
            function: None,
            filter: None,
            verdict: None,
            text: None,
            owner: None,
        }
    }
}

impl Selection<'_> {
    /// Whether a finding is asked for.
    pub fn has(&self, entry: &Entry, places: &Places) -> bool {
        let finding = &entry.finding;
        let has_file = |file: &FilePattern<'_>| file.matches(&finding.file, places);
        let has_filter = |wanted| finding.filter().is_some_and(|filter| filter <= wanted);
        finding.level <= self.level
            && self.rule.is_none_or(|rule| is_rule(&finding.rule, rule))
            && self.function.is_none_or(|name| finding.function == name)
            && self.filter.is_none_or(has_filter)
            && self.verdict.is_none_or(|wanted| wanted.is(entry))
            && self.file.as_ref().is_none_or(has_file)
            && self.text.is_none_or(|text| has_text(entry, text))
            && self
                .owner
                .is_none_or(|(name, owners)| is_owned(entry, name, owners))
    }
}

/// Whether an owner of a finding's file has this in its name.
fn is_owned(entry: &Entry, name: &str, owners: &Owners) -> bool {
    let name = name.to_lowercase();
    let mut owners = owners.of(&entry.finding.file).iter();
    owners.any(|owner| owner.to_lowercase().contains(&name))
}

/// Whether one of a finding's texts has this one in it.
fn has_text(entry: &Entry, text: &str) -> bool {
    let finding = &entry.finding;
    let texts = [
        &*finding.message,
        &*finding.object,
        &*finding.function,
        &*finding.file,
        &*finding.rule,
        judgement(entry).1,
    ];
    let text = text.to_lowercase();
    texts.iter().any(|one| one.to_lowercase().contains(&text))
}

/// What a finding is judged, `open` if it is not, and why.
pub fn judgement(entry: &Entry) -> (&'static str, &str) {
    match (&entry.judged, &entry.ignored) {
        (Some(judged), _) => (judged.verdict.name(), judged.note.as_str()),
        (None, Some(reason)) => ("ignored", reason.as_str()),
        (None, None) => ("open", ""),
    }
}

/// The gravest first, of these what the strictest filter reports.
pub fn by_rank(a: &Entry, b: &Entry) -> Ordering {
    fn place(entry: &Entry) -> (u32, &str, &str, u32) {
        let finding = &entry.finding;
        (finding.rank(), &finding.rule, &finding.file, finding.line)
    }
    place(a).cmp(&place(b))
}

/// Whether this is the rule that is meant, or one of the group.
pub fn is_rule(rule: &str, asked: &str) -> bool {
    let rest = rule.strip_prefix(asked.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A file, a folder or a glob that a person has named.
#[derive(Debug)]
pub struct FilePattern<'a> {
    text: &'a str,
    glob: ignore::overrides::Override,
}

impl<'a> FilePattern<'a> {
    pub fn new(text: &'a str) -> anyhow::Result<Self> {
        let text = text
            .strip_prefix("./")
            .unwrap_or(text)
            .trim_end_matches('/');
        let mut glob = ignore::overrides::OverrideBuilder::new("/");
        glob.add(text).with_context(|| format!("`{text}`"))?;
        let glob = glob.build()?;
        Ok(FilePattern { text, glob })
    }

    pub fn matches(&self, file: &str, places: &Places) -> bool {
        let is_named = |file: &str| {
            let rest = file.strip_prefix(self.text);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        is_named(file)
            || is_named(&places.name(file))
            || Path::new(file).ends_with(self.text)
            || self.glob.matched(file, false).is_whitelist()
    }
}

/// The one finding of this id.
pub fn find<'e>(entries: &'e [Entry], id: &str) -> anyhow::Result<&'e Entry> {
    let mut found = entries
        .iter()
        .filter(|entry| !id.is_empty() && entry.finding.fingerprint.starts_with(id));
    let exact = entries.iter().find(|entry| entry.finding.fingerprint == id);
    let Some(first) = exact.or_else(|| found.next()) else {
        bail!("the last check has no finding `{id}`; `cassini triage list` has their ids");
    };
    let others: Vec<&Entry> = match exact {
        Some(_) => Vec::new(),
        None => found.collect(),
    };
    if !others.is_empty() {
        let all = std::iter::once(first).chain(others);
        let ids: Vec<&str> = all.map(|entry| &*entry.finding.fingerprint).collect();
        bail!(
            "several findings have ids that begin with `{id}`: {}",
            ids.join(", ")
        );
    }
    Ok(first)
}

/// How often a rule was judged how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accuracy {
    pub verdicts: [usize; Verdict::ALL.len()],
    /// Findings without a verdict.
    pub open: usize,
}

impl Accuracy {
    /// How many of a hundred that were decided are bugs.
    pub fn percent(&self) -> Option<usize> {
        let [bug, false_positive, intended, _] = self.verdicts;
        let decided = bug + false_positive + intended;
        (decided > 0).then(|| (100 * bug + decided / 2) / decided)
    }
}

/// Verdicts by rule: those on findings that are gone count, too.
pub fn accuracy(verdicts: Vec<Judged>, entries: &[Entry]) -> BTreeMap<String, Accuracy> {
    let mut rules: BTreeMap<String, Accuracy> = BTreeMap::new();
    for judged in verdicts {
        let count = rules.entry(judged.rule).or_default();
        count.verdicts[judged.verdict as usize] += 1;
    }
    let open = entries.iter().filter(|entry| {
        let reported = entry.finding.level <= Level::Note;
        reported && Wanted::Open.is(entry)
    });
    for entry in open {
        rules.entry(entry.finding.rule.clone()).or_default().open += 1;
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_rules_is_named_by_its_beginning() {
        assert!(is_rule("lock/order", "lock") && is_rule("lock/order", "lock/order"));
        assert!(!is_rule("lock/order", "lock/ord") && !is_rule("locks/order", "lock"));
    }

    #[test]
    fn files_are_named_whole_by_folder_by_end_or_by_glob() {
        let places = Places::new(Path::new("/t"), Path::new("/t"));
        let is = |text: &str| FilePattern::new(text).unwrap().matches("a/b/c.c", &places);
        for text in [
            "a/b/c.c",
            "./a/b/c.c",
            "a",
            "a/b/",
            "c.c",
            "b/c.c",
            "a/**/*.c",
            "c.*",
        ] {
            assert!(is(text), "{text}");
        }
        for text in ["b", "a/bb", "d.c", "a/*.h"] {
            assert!(!is(text), "{text}");
        }
    }
}
