//! Verdicts that people give on findings, and the text file that carries them from one database to another.
//!
//! In: findings and verdicts, or the text. Out: the text: one verdict a line, sorted, so that version control can merge it, or the verdicts
//! of a text with the place of each mistake.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::finding::identity::Identity;

/// What a person says of a finding.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is a bug.
    Bug,
    /// The program is right, and the analysis is wrong.
    FalsePositive,
    /// The program does this, and it is meant to.
    Intended,
    /// Not decided yet.
    Later,
}

impl Verdict {
    pub const ALL: [Verdict; 4] = [
        Verdict::Bug,
        Verdict::FalsePositive,
        Verdict::Intended,
        Verdict::Later,
    ];

    /// The name that the command line, the database and the text have for it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Bug => "bug",
            Verdict::FalsePositive => "false-positive",
            Verdict::Intended => "intended",
            Verdict::Later => "later",
        }
    }

    pub fn parse(name: &str) -> Option<Verdict> {
        Verdict::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Whether reports leave a finding out that is judged so.
    pub fn dismisses(self) -> bool {
        matches!(self, Verdict::FalsePositive | Verdict::Intended)
    }
}

/// A verdict, and the finding that it is about, which need not be there any more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Judged {
    pub fingerprint: String,
    pub verdict: Verdict,
    pub rule: String,
    pub file: String,
    pub function: String,
    pub object: String,
    /// Why, in the person's words; may be empty.
    pub note: String,
}

impl Judged {
    /// This verdict on a finding, without a note.
    pub fn of(finding: &Finding, verdict: Verdict) -> Judged {
        Judged {
            fingerprint: finding.fingerprint.clone(),
            verdict,
            rule: finding.rule.clone(),
            file: finding.file.clone(),
            function: finding.function.clone(),
            object: finding.object.clone(),
            note: String::new(),
        }
    }

    pub fn identity(&self) -> Identity<'_> {
        Identity {
            fingerprint: &self.fingerprint,
            file: &self.file,
        }
    }
}

/// The text's first line.
const HEADER: &str =
    "# cassini verdicts 1: fingerprint, verdict, rule, file, function, object, note; between tabs";
/// What the first line of every version begins with, and of this one.
const ANY_HEADER: &str = "# cassini verdicts ";
const OWN_HEADER: &str = "# cassini verdicts 1:";

/// The verdicts as text, sorted.
pub fn to_text(verdicts: &[Judged]) -> String {
    let mut lines: Vec<String> = verdicts.iter().map(line).collect();
    lines.sort_unstable();
    let mut text = format!("{HEADER}\n");
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn line(judged: &Judged) -> String {
    let columns = [
        &judged.fingerprint,
        judged.verdict.name(),
        &judged.rule,
        &judged.file,
        &judged.function,
        &judged.object,
        &judged.note,
    ];
    columns.map(escape).join("\t")
}

/// What is wrong with a text, in which line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Mistake {
    pub line: usize,
    pub what: String,
}

/// The verdicts of a text, by fingerprint. A line that is twice there counts once.
pub fn from_text(text: &str) -> Result<Vec<Judged>, Mistake> {
    let mut known: BTreeMap<String, (usize, Judged)> = BTreeMap::new();
    let mut header = false;
    for (number, line) in (1..).zip(text.lines()) {
        let mistake = |what: String| Mistake { line: number, what };
        if line.starts_with(ANY_HEADER) {
            if !line.starts_with(OWN_HEADER) {
                return Err(mistake(
                    "another version of cassini has written this".to_owned(),
                ));
            }
            header = true;
            continue;
        }
        if !header {
            return Err(mistake(
                "this is no file of `cassini triage export`".to_owned(),
            ));
        }
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        let judged = parse(line).map_err(mistake)?;
        match known.get(&judged.fingerprint) {
            Some((other, before)) if *before != judged => {
                let what = format!("line {other} has another verdict on the same finding");
                return Err(mistake(what));
            }
            Some(_) => {}
            None => {
                known.insert(judged.fingerprint.clone(), (number, judged));
            }
        }
    }
    Ok(known.into_values().map(|(_, judged)| judged).collect())
}

fn parse(line: &str) -> Result<Judged, String> {
    if ["<<<<<<<", "=======", ">>>>>>>", "|||||||"]
        .iter()
        .any(|mark| line.starts_with(mark))
    {
        return Err("two versions were merged, and which of them counts is not decided".to_owned());
    }
    let columns: Vec<String> = line.split('\t').map(unescape).collect();
    let Ok([fingerprint, verdict, rule, file, function, object, note]) =
        <[String; 7]>::try_from(columns)
    else {
        return Err("a verdict is seven columns between tabs".to_owned());
    };
    let whole = |c: char| c.is_ascii_alphanumeric() || c == '.';
    if fingerprint.is_empty() || !fingerprint.chars().all(whole) {
        return Err("the first column is no fingerprint".to_owned());
    }
    let Some(verdict) = Verdict::parse(&verdict) else {
        let names = Verdict::ALL.map(Verdict::name).join(", ");
        return Err(format!("the second column is none of {names}"));
    };
    Ok(Judged {
        fingerprint,
        verdict,
        rule,
        file,
        function,
        object,
        note,
    })
}

/// A column without control characters: they stand as `\n`, `\t` or `\u{…}`, and a backslash as two.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if crate::source::is_inert(c) => out.push(c),
            c => _ = write!(out, "\\u{{{:x}}}", u32::from(c)),
        }
    }
    out
}

fn unescape(column: &str) -> String {
    let mut out = String::with_capacity(column.len());
    let mut rest = column;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let (c, after) = match rest.chars().next() {
            Some('n') => ('\n', &rest[1..]),
            Some('t') => ('\t', &rest[1..]),
            Some('u') => code_point(rest).unwrap_or(('\\', rest)),
            Some('\\') => ('\\', &rest[1..]),
            _ => ('\\', rest),
        };
        out.push(c);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The character of `u{…}`, and what follows.
fn code_point(text: &str) -> Option<(char, &str)> {
    let (digits, after) = text.strip_prefix("u{")?.split_once('}')?;
    let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    Some((c, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(fingerprint: &str, note: &str) -> Judged {
        Judged {
            fingerprint: fingerprint.into(),
            verdict: Verdict::FalsePositive,
            rule: "lock/double-lock".into(),
            file: "a\tb.c".into(),
            function: "f".into(),
            object: "dev->lock".into(),
            note: note.into(),
        }
    }

    #[test]
    fn a_text_is_sorted_and_read_back_whatever_the_notes_say() {
        let hostile = "two\nlines, \u{1b}[31m\ttab \\n \\u{41} \u{202e}";
        let verdicts = vec![judged("b.1", hostile), judged("a.1", "")];
        let text = to_text(&verdicts);
        assert_eq!(text.lines().count(), 3);
        assert!(
            text.chars()
                .all(|c| c == '\n' || c == '\t' || crate::source::is_inert(c))
        );
        let mut sorted = verdicts;
        sorted.sort();
        assert_eq!(from_text(&text).unwrap(), sorted);
        assert_eq!(from_text(&format!("{text}{text}")).unwrap(), sorted);
    }

    #[test]
    fn a_mistake_has_its_line() {
        let good = to_text(&[judged("a.1", "")]);
        for (more, what) in [
            ("a.1\tbug\t\t\t\t\t\n", "line 3: line 2 has another verdict"),
            (
                "a.2\tbog\t\t\t\t\t\n",
                "line 3: the second column is none of bug",
            ),
            ("a.2\tbug\n", "line 3: a verdict is seven columns"),
            ("<<<<<<< HEAD\n", "line 3: two versions were merged"),
            (
                "a 2\tbug\t\t\t\t\t\n",
                "line 3: the first column is no fingerprint",
            ),
        ] {
            let error = from_text(&format!("{good}{more}")).unwrap_err().to_string();
            assert!(error.starts_with(what), "{error}");
        }
        assert!(
            from_text("text\n")
                .unwrap_err()
                .to_string()
                .contains("is no file of")
        );
        let newer = "# cassini verdicts 2: x\n";
        assert!(
            from_text(newer)
                .unwrap_err()
                .to_string()
                .contains("another version")
        );
    }
}
