//! The report as one JSON object, in the shape of the command-line contract. Equal for equal programs
//! and options, byte for byte: times are told elsewhere.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::engine::ledger::Ledger;
use crate::finding::{Explanation, Filter, Finding, Level, TraceStep};

#[derive(Serialize)]
struct Report<'a> {
    tool: &'static str,
    version: &'static str,
    run: Run<'a>,
    findings: Vec<JsonFinding<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    /// The tree, which files are relative to, as the user named it.
    root: &'a str,
    #[serde(flatten)]
    ledger: &'a Ledger,
    findings: usize,
    /// What was lost or guessed while the tree was read.
    failures: &'a [String],
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    rule: &'a str,
    level: Level,
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
}

#[derive(Serialize)]
struct JsonStep<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    message: &'a str,
}

/// Writes the report and a line end.
pub fn write(
    out: &mut dyn Write,
    root: &Path,
    findings: &[Finding],
    ledger: &Ledger,
    failures: &[String],
) -> io::Result<()> {
    let report = Report {
        tool: "cassini",
        version: env!("CARGO_PKG_VERSION"),
        run: Run {
            root: &root.to_string_lossy(),
            ledger,
            findings: findings.len(),
            failures,
        },
        findings: findings.iter().map(json_finding).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

fn json_finding(finding: &Finding) -> JsonFinding<'_> {
    JsonFinding {
        rule: &finding.rule,
        level: finding.level,
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
    }
}

fn json_step(step: &TraceStep) -> JsonStep<'_> {
    JsonStep {
        file: &step.file,
        line: step.line,
        column: step.column,
        message: &step.message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::finding;

    #[test]
    fn the_report_has_the_shape_of_the_contract() {
        let mut out = Vec::new();
        let findings = [finding("a.c", 3, "f00")];
        write(
            &mut out,
            Path::new("src"),
            &findings,
            &Ledger::default(),
            &["a.c: gone".into()],
        )
        .unwrap();
        let report: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(report["tool"], "cassini");
        assert_eq!(report["run"]["root"], "src");
        assert_eq!(report["run"]["findings"], 1);
        assert_eq!(report["run"]["functions"]["analysed"], 0);
        let finding = report["findings"][0].as_object().unwrap();
        let keys: Vec<&str> = finding.keys().map(String::as_str).collect();
        let mut expected = vec![
            "rule",
            "level",
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
    }
}
