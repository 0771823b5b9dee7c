//! The report as SARIF 2.1.0, for other programs: code hosts, editors, CodeChecker.
//!
//! In: [`Contents`]. Out: one run with all findings of the level asked for. What people have silenced is there with its suppression, and with a
//! baseline every finding has its state, those that are fixed as `absent`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize;

use super::Contents;
use super::json::write_value;
use crate::finding::{Finding, Level};
use crate::property::Rule;
use crate::triage::baseline::SARIF_FINGERPRINT;
use crate::triage::owners::Owners;
use crate::triage::{Entry, Known};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// What stands for the tree's folder.
const ROOT: &str = "ROOT";
/// The name of the fingerprint without its file.
const SHAPE: &str = "cassiniShape/v1";

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool<'a>,
    invocations: [Invocation<'a>; 1],
    original_uri_base_ids: BTreeMap<&'static str, Base>,
    column_kind: &'static str,
    results: Vec<Outcome<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    driver: Driver<'a>,
}

#[derive(Serialize)]
struct Driver<'a> {
    name: &'static str,
    version: &'static str,
    rules: Vec<Descriptor<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor<'a> {
    id: &'a str,
    short_description: Message,
    full_description: Message,
    help: Help<'a>,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Help<'a> {
    text: &'a str,
    markdown: &'a str,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation<'a> {
    execution_successful: bool,
    tool_execution_notifications: Vec<Notification<'a>>,
}

#[derive(Serialize)]
struct Notification<'a> {
    level: &'static str,
    message: Plain<'a>,
}

/// A text that is not ours as it is.
#[derive(Serialize)]
struct Plain<'a> {
    text: &'a str,
}

#[derive(Serialize)]
struct Base {
    description: Message,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    rule_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    level: &'static str,
    message: Message,
    locations: Vec<Location<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    code_flows: Vec<CodeFlow<'a>>,
    partial_fingerprints: BTreeMap<&'static str, &'a str>,
    suppressions: Vec<Suppression<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline_state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Properties<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Properties<'a> {
    object: &'a str,
    not_a_bug_if: Vec<&'a str>,
    /// Whose code it is in, if the tree says so.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    owners: &'a [String],
    /// It is in the program's own tests only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    in_tests: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    physical_location: Physical,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<Logical<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Artifact {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u32>,
}

#[derive(Serialize)]
struct Logical<'a> {
    name: &'a str,
    kind: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CodeFlow<'a> {
    thread_flows: [ThreadFlow<'a>; 1],
}

#[derive(Serialize)]
struct ThreadFlow<'a> {
    locations: Vec<FlowLocation<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FlowLocation<'a> {
    location: Location<'a>,
    nesting_level: u32,
    execution_order: usize,
}

#[derive(Serialize)]
struct Suppression<'a> {
    kind: &'static str,
    status: &'static str,
    justification: &'a str,
}

/// Writes the report and a line end.
pub fn write(out: &mut dyn Write, contents: &Contents<'_>) -> io::Result<()> {
    let rules: Vec<&Rule> = contents.rules.rules().collect();
    let fixed = contents.baseline.map_or(&[][..], |baseline| baseline.fixed);
    let results = contents.entries.iter();
    let results = results.map(|entry| outcome(entry, &rules, contents.owners));
    let results = results.chain(fixed.iter().map(absent)).collect();
    let failures = contents.about.failures.iter();
    let log = Log {
        schema: SCHEMA,
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: "Cassini",
                    version: env!("CARGO_PKG_VERSION"),
                    rules: rules.iter().map(|rule| descriptor(rule)).collect(),
                },
            },
            invocations: [Invocation {
                execution_successful: true,
                tool_execution_notifications: failures
                    .map(|text| Notification {
                        level: "error",
                        message: Plain { text },
                    })
                    .collect(),
            }],
            original_uri_base_ids: BTreeMap::from([(
                ROOT,
                Base {
                    description: message("The tree that was checked"),
                },
            )]),
            column_kind: "unicodeCodePoints",
            results,
        }],
    };
    write_value(out, &log)
}

fn descriptor(rule: &Rule) -> Descriptor<'_> {
    let manual = rule.explanation.trim();
    // Below the title and the first heading.
    let paragraphs = manual.split("\n\n").map(str::trim);
    let does = paragraphs
        .flat_map(|paragraph| paragraph.split_once("## What it does\n"))
        .map(|(_, text)| text.replace('\n', " "))
        .next();
    let full = does.unwrap_or_else(|| rule.id.clone());
    let short = full.split_inclusive(". ").next().unwrap_or(&full).trim();
    Descriptor {
        id: &rule.id,
        short_description: message(short),
        full_description: message(&full),
        help: Help {
            text: manual,
            markdown: manual,
        },
        default_configuration: Configuration {
            level: level(rule.level),
        },
    }
}

fn outcome<'a>(entry: &'a Entry, rules: &[&Rule], owners: &'a Owners) -> Outcome<'a> {
    let finding = &entry.finding;
    let fingerprint = finding.fingerprint.as_str();
    let shape = fingerprint.split('.').next().unwrap_or_default();
    let mut suppressions = Vec::new();
    let mut suppress = |kind, justification| {
        suppressions.push(Suppression {
            kind,
            status: "accepted",
            justification,
        });
    };
    let judged = entry.judged.as_ref();
    if let Some(judged) = judged.filter(|judged| judged.verdict.dismisses()) {
        suppress(
            "external",
            match judged.note.as_str() {
                "" => judged.verdict.name(),
                note => note,
            },
        );
    }
    if let Some(reason) = &entry.ignored {
        suppress("inSource", reason);
    }
    let covered = finding.level == Level::Explained;
    Outcome {
        rule_id: &finding.rule,
        rule_index: rules.iter().position(|rule| rule.id == finding.rule),
        kind: covered.then_some("informational"),
        level: level(finding.level),
        message: message(&finding.message),
        locations: vec![Location {
            physical_location: physical(&finding.file, finding.line, finding.column),
            logical_locations: function(&finding.function),
            message: None,
        }],
        code_flows: code_flows(finding),
        partial_fingerprints: BTreeMap::from([(SARIF_FINGERPRINT, fingerprint), (SHAPE, shape)]),
        suppressions,
        baseline_state: entry.state.map(|state| state.name()),
        properties: Some(Properties {
            object: &finding.object,
            not_a_bug_if: finding.explanations.iter().map(|one| &*one.text).collect(),
            owners: owners.of(&finding.file),
            in_tests: finding.is_in_tests(),
            verdict: judged.map(|judged| judged.verdict.name()),
            note: judged
                .map(|judged| &*judged.note)
                .filter(|note| !note.is_empty()),
        }),
    }
}

/// A finding of the baseline that is there no more.
fn absent(known: &Known) -> Outcome<'_> {
    Outcome {
        rule_id: &known.rule,
        rule_index: None,
        kind: None,
        level: "none",
        message: message(&known.message),
        locations: vec![Location {
            physical_location: physical(&known.file, known.line, 0),
            logical_locations: function(&known.function),
            message: None,
        }],
        code_flows: Vec::new(),
        partial_fingerprints: BTreeMap::from([(SARIF_FINGERPRINT, known.fingerprint.as_str())]),
        suppressions: Vec::new(),
        baseline_state: Some("absent"),
        properties: None,
    }
}

fn code_flows(finding: &Finding) -> Vec<CodeFlow<'_>> {
    let steps = finding.trace.iter().enumerate();
    let locations: Vec<FlowLocation<'_>> = steps
        .map(|(index, step)| FlowLocation {
            location: Location {
                physical_location: physical(&step.file, step.line, step.column),
                logical_locations: function(&step.function),
                message: Some(message(&step.message)),
            },
            nesting_level: step.depth,
            execution_order: index + 1,
        })
        .collect();
    match locations.is_empty() {
        true => Vec::new(),
        false => vec![CodeFlow {
            thread_flows: [ThreadFlow { locations }],
        }],
    }
}

fn function(name: &str) -> Vec<Logical<'_>> {
    match name {
        "" => Vec::new(),
        name => vec![Logical {
            name,
            kind: "function",
        }],
    }
}

fn physical(file: &str, line: u32, column: u32) -> Physical {
    let absolute = file.starts_with('/');
    Physical {
        artifact_location: Artifact {
            uri: match absolute {
                true => format!("file://{}", encode(file)),
                false => encode(file),
            },
            uri_base_id: (!absolute).then_some(ROOT),
        },
        region: (line > 0).then_some(Region {
            start_line: line,
            start_column: (column > 0).then_some(column),
        }),
    }
}

/// A path as a URI: all but what may stand in one is given in hexadecimal.
fn encode(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for &byte in path.as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            byte => _ = write!(out, "%{byte:02X}"),
        }
    }
    out
}

/// A plain text. What would be a link or the place of an argument in SARIF's texts is none here.
fn message(text: &str) -> Message {
    let mut out = String::with_capacity(text.len());
    let link = text.contains("](");
    for c in text.chars() {
        match c {
            '[' | ']' | '\\' if link => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    Message { text: out }
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Explained => "none",
        level => level.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Baseline;
    use crate::report::tests::{entry, finding, hostile, rendered};
    use crate::source::is_inert;
    use crate::triage::baseline::{self, State};

    #[test]
    fn a_report_is_read_back_as_a_baseline() {
        let fixed = [Known {
            file: "gone.c".into(),
            line: 3,
            rule: "lock/double-lock".into(),
            message: "m".into(),
            function: "f".into(),
            fingerprint: "a.b".into(),
        }];
        let baseline = Some(Baseline {
            fixed: &fixed,
            whole: true,
        });
        let mut new = entry(finding("dir/a b.c", 3, "f00.aa"));
        new.state = Some(State::New);
        let text = rendered(&[new], baseline, write);
        let known = baseline::read(text.as_bytes()).unwrap();
        assert_eq!(known.len(), 1, "{text}");
        assert_eq!((&*known[0].file, known[0].line), ("dir/a b.c", 3));
        assert_eq!(
            (&*known[0].fingerprint, &*known[0].function),
            ("f00.aa", "probe")
        );
        let log: serde_json::Value = serde_json::from_str(&text).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results[1]["baselineState"], "absent");
        assert_eq!(results[0]["baselineState"], "new");
    }

    #[test]
    fn hostile_text_is_no_link_and_no_path_elsewhere() {
        let text = rendered(&hostile(), None, write);
        assert!(text.chars().all(|c| c == '\n' || is_inert(c)), "{text}");
        let log: serde_json::Value = serde_json::from_str(&text).unwrap();
        let result = &log["runs"][0]["results"][0];
        let shown = result["message"]["text"].as_str().unwrap();
        assert!(shown.contains(r"\](x)\[y\]"), "{shown}");
        let place = &result["locations"][0]["physicalLocation"]["artifactLocation"];
        let uri = place["uri"].as_str().unwrap();
        assert!(uri.starts_with("%3C/pre%3E%3Cscript%3E"), "{uri}");
    }

    #[test]
    fn a_rule_has_its_manual_page() {
        let text = rendered(&[], None, write);
        let log: serde_json::Value = serde_json::from_str(&text).unwrap();
        let rules = log["runs"][0]["tool"]["driver"]["rules"]
            .as_array()
            .unwrap();
        let rule = rules
            .iter()
            .find(|rule| rule["id"] == "assert/failure")
            .unwrap();
        let help = rule["help"]["markdown"].as_str().unwrap();
        assert!(help.contains("## Why is this bad?"), "{help}");
        let short = rule["shortDescription"]["text"].as_str().unwrap();
        assert!(short.starts_with("Reports an assertion"), "{short}");
    }
}
