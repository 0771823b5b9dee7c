//! The report as one JSON object, in the shape of the command-line contract. Equal for equal programs
//! and options, byte for byte: times are told elsewhere. Control characters are escaped, those that JSON leaves as they are, too.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, PrettyFormatter, Serializer};

use super::Contents;
use crate::engine::ledger::Ledger;
use crate::finding::{Explanation, Filter, Finding, Level, TraceStep};
use crate::source::is_inert;
use crate::triage::owners::Owners;
use crate::triage::{Entry, Known, State};

#[derive(Serialize)]
struct Report<'a> {
    tool: &'static str,
    version: &'static str,
    run: Run<'a>,
    findings: Vec<JsonFinding<'a>>,
    /// With a baseline: what it has and this run has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<Vec<Fixed<'a>>>,
}

#[derive(Serialize)]
struct Run<'a> {
    /// The tree, which files are relative to, as the user named it.
    root: &'a str,
    #[serde(flatten)]
    ledger: &'a Ledger,
    findings: usize,
    left_out: LeftOut,
    /// What was lost or guessed while the tree was read.
    failures: &'a [String],
}

/// Findings that the report leaves out, and why.
#[derive(Serialize)]
struct LeftOut {
    verdicts: usize,
    comments: usize,
    baseline: usize,
    less_certain: usize,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    rule: &'a str,
    level: Level,
    rank: u32,
    message: &'a str,
    file: &'a str,
    line: u32,
    column: u32,
    function: &'a str,
    object: &'a str,
    /// The strictest filter that reports the finding; none is applied to some rules.
    filter: Option<&'a str>,
    fingerprint: &'a str,
    /// All explanations in one sentence.
    specification: Option<String>,
    /// What makes it none: the readings of what is not known.
    explanations: &'a [Explanation],
    trace: Vec<JsonStep<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    programs: &'a [String],
    /// Whose code it is in, if the tree says so.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    owners: &'a [String],
    /// It is in the program's own tests only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    in_tests: bool,
    /// What a person says of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<JsonVerdict<'a>>,
    /// With a baseline: `new` or `unchanged`.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
}

#[derive(Serialize)]
struct JsonVerdict<'a> {
    verdict: &'static str,
    note: &'a str,
}

#[derive(Serialize)]
struct Fixed<'a> {
    rule: &'a str,
    message: &'a str,
    file: &'a str,
    line: u32,
    function: &'a str,
    fingerprint: &'a str,
}

#[derive(Serialize)]
struct JsonStep<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    message: &'a str,
    depth: u32,
}

/// Writes the report and a line end.
pub fn write(out: &mut dyn Write, contents: &Contents<'_>) -> io::Result<()> {
    let findings: Vec<JsonFinding<'_>> = contents
        .shown()
        .map(|entry| json_finding(entry, contents.owners))
        .collect();
    let left_out = contents.left_out;
    let report = Report {
        tool: "cassini",
        version: env!("CARGO_PKG_VERSION"),
        run: Run {
            root: &contents.about.root,
            ledger: &contents.about.ledger,
            findings: findings.len(),
            left_out: LeftOut {
                verdicts: left_out.verdicts,
                comments: left_out.comments,
                baseline: left_out.known,
                less_certain: left_out.less_certain,
            },
            failures: &contents.about.failures,
        },
        findings,
        fixed: contents
            .baseline
            .map(|baseline| baseline.fixed.iter().map(fixed).collect()),
    };
    write_value(out, &report)
}

/// Writes a value as JSON for people, inert on a terminal, and a line end.
pub fn write_value<T: Serialize>(out: &mut dyn Write, value: &T) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(&mut *out, Inert(PrettyFormatter::new()));
    value.serialize(&mut serializer)?;
    writeln!(out)
}

/// Escapes what JSON leaves as it is and a terminal may obey.
struct Inert<'a>(PrettyFormatter<'a>);

impl Formatter for Inert<'_> {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if fragment.chars().all(is_inert) {
            return out.write_all(fragment.as_bytes());
        }
        let mut escaped = String::with_capacity(fragment.len() + 16);
        for c in fragment.chars() {
            match is_inert(c) {
                true => escaped.push(c),
                // All of them are in the basic plane.
                false => _ = write!(escaped, "\\u{:04x}", u32::from(c)),
            }
        }
        out.write_all(escaped.as_bytes())
    }

    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        self.0.write_char_escape(out, escape)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}

fn fixed(known: &Known) -> Fixed<'_> {
    Fixed {
        rule: &known.rule,
        message: &known.message,
        file: &known.file,
        line: known.line,
        function: &known.function,
        fingerprint: &known.fingerprint,
    }
}

fn json_finding<'a>(entry: &'a Entry, owners: &'a Owners) -> JsonFinding<'a> {
    let finding: &Finding = &entry.finding;
    JsonFinding {
        rule: &finding.rule,
        level: finding.level,
        rank: finding.rank(),
        message: &finding.message,
        file: &finding.file,
        line: finding.line,
        column: finding.column,
        function: &finding.function,
        object: &finding.object,
        filter: finding.filter().map(Filter::name),
        fingerprint: &finding.fingerprint,
        specification: finding.specification(),
        explanations: &finding.explanations,
        trace: finding.trace.iter().map(json_step).collect(),
        programs: &finding.programs,
        owners: owners.of(&finding.file),
        in_tests: finding.is_in_tests(),
        verdict: entry.judged.as_ref().map(|judged| JsonVerdict {
            verdict: judged.verdict.name(),
            note: &judged.note,
        }),
        state: entry.state.map(State::name),
    }
}

fn json_step(step: &TraceStep) -> JsonStep<'_> {
    JsonStep {
        file: &step.file,
        line: step.line,
        column: step.column,
        message: &step.message,
        depth: step.depth,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{HOSTILE, entry, finding, hostile, rendered};

    fn report(entries: &[Entry]) -> serde_json::Value {
        serde_json::from_str(&rendered(entries, None, write)).unwrap()
    }

    #[test]
    fn the_report_has_the_shape_of_the_contract() {
        let report = report(&[entry(finding("a.c", 3, "f00"))]);
        assert_eq!(report["tool"], "cassini");
        assert_eq!(report["run"]["findings"], 1);
        assert_eq!(report["run"]["functions"]["analysed"], 0);
        let finding = report["findings"][0].as_object().unwrap();
        let keys: Vec<&str> = finding.keys().map(String::as_str).collect();
        let mut expected = vec![
            "rule",
            "level",
            "rank",
            "message",
            "file",
            "line",
            "column",
            "function",
            "object",
            "filter",
            "fingerprint",
            "specification",
            "explanations",
            "trace",
        ];
        expected.sort_unstable();
        assert_eq!(keys, expected);
        assert_eq!(finding["level"], "error");
        assert_eq!(finding["trace"][0]["line"], 1);
        assert_eq!(finding["trace"][0]["depth"], 0);
    }

    #[test]
    fn hostile_text_is_escaped_and_none_of_it_is_lost() {
        let text = rendered(&hostile(), None, write);
        assert!(text.chars().all(|c| c == '\n' || is_inert(c)), "{text}");
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(report["findings"].as_array().unwrap().len(), 1);
        assert_eq!(report["findings"][0]["message"], HOSTILE);
        assert_eq!(report["findings"][0]["verdict"]["note"], HOSTILE);
        assert_eq!(report["run"]["root"], HOSTILE);
    }
}
