//! The filters on the examples of their papers, end to end.
//!
//! A marker of `testdata/filter` tells for a line the strictest filter that reports a failure there: `//~ conc heap/double-free`. Lines
//! without one have none.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

const FILES: [&str; 13] = [
    "acspec.c",
    "angelic.c",
    "answers.c",
    "answered_callee.c",
    "answered_inside.c",
    "ends_program.c",
    "fails_again.c",
    "freed_in_part.c",
    "given_or_made.c",
    "one_of_several.c",
    "perhaps_made.c",
    "several_blocks.c",
    "wrong_pointer.c",
];

/// From the strictest on.
const FILTERS: [&str; 5] = ["conc", "a1", "a2", "angelic", "demonic"];

fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/filter")
        .join(file)
}

fn tree() -> TempDir {
    let tree = tempfile::tempdir().unwrap();
    for file in FILES {
        fs::copy(source(file), tree.path().join(file)).unwrap();
    }
    tree
}

fn cassini(tree: &TempDir, arguments: &[&str]) -> String {
    let output = Command::cargo_bin("cassini")
        .unwrap()
        .args(arguments)
        .current_dir(tree.path())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The findings under a filter: file, line, rule, and the strictest filter that reports it.
fn findings(filter: Option<&str>) -> BTreeSet<(String, u64, String, String)> {
    let tree = tree();
    let mut arguments = vec!["check", ".", "--format", "json", "--level", "note"];
    arguments.extend(["--no-progress", "--checkers", "heap,null,file,assert"]);
    if let Some(filter) = filter {
        arguments.extend(["--filter", filter]);
    }
    let report: Value = serde_json::from_str(&cassini(&tree, &arguments)).unwrap();
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .map(|finding| {
            let line = finding["line"].as_u64().unwrap();
            let (file, rule) = (text(finding, "file"), text(finding, "rule"));
            (file, line, rule, text(finding, "filter"))
        })
        .collect()
}

fn expected() -> BTreeSet<(String, u64, String, String)> {
    let mut expected = BTreeSet::new();
    for file in FILES {
        let text = fs::read_to_string(source(file)).unwrap();
        for (line, text) in (1..).zip(text.lines()) {
            if let Some((_, marker)) = text.split_once("//~ ") {
                let (filter, rule) = marker.split_once(' ').unwrap();
                assert!(FILTERS.contains(&filter), "{file}:{line}: {filter}");
                expected.insert((file.to_owned(), line, rule.to_owned(), filter.to_owned()));
            }
        }
    }
    assert!(expected.len() > 10);
    expected
}

#[test]
fn each_failure_of_the_papers_is_reported_by_the_papers_filter() {
    let missing_or_wrong = |one: &BTreeSet<_>, other: &BTreeSet<_>| -> Vec<_> {
        one.difference(other).cloned().collect::<Vec<_>>()
    };
    let (expected, found) = (expected(), findings(Some("demonic")));
    assert_eq!(missing_or_wrong(&expected, &found), [], "not found");
    assert_eq!(
        missing_or_wrong(&found, &expected),
        [],
        "found, not expected"
    );
}

#[test]
fn a_filter_shows_what_it_and_stricter_ones_report() {
    let all = expected();
    for filter in ["conc", "a1", "a2"] {
        let at = FILTERS.iter().position(|known| *known == filter).unwrap();
        let shown =
            |found: &&(String, u64, String, String)| FILTERS[..=at].contains(&found.3.as_str());
        let wanted: BTreeSet<_> = all.iter().filter(shown).cloned().collect();
        assert_eq!(findings(Some(filter)), wanted, "{filter}");
    }
}

#[test]
fn by_default_the_strictest_filter_is_in_force_and_a_weaker_one_for_some_rules() {
    let all = expected();
    let shown = |found: &&(String, u64, String, String)| {
        let weaker = [
            "null/unchecked-result",
            "heap/use-after-free",
            "heap/double-free",
        ];
        found.3 == "conc" || found.3 == "a1" && weaker.contains(&found.2.as_str())
    };
    let wanted: BTreeSet<_> = all.iter().filter(shown).cloned().collect();
    assert_eq!(findings(None), wanted);
}

/// `Bar` and `Foo` of Figure 1, Figure 6 (b), (a) with its harness, and what the user says to be possible.
#[test]
fn the_angelic_filter_reports_what_no_acceptable_specification_blocks() {
    let found = findings(Some("angelic"));
    let of_paper = found.iter().filter(|found| found.0 == "angelic.c");
    let lines: Vec<u64> = of_paper.map(|found| found.1).collect();
    let text = fs::read_to_string(source("angelic.c")).unwrap();
    let reported: Vec<&str> = lines
        .iter()
        .map(|line| text.lines().nth(*line as usize - 1).unwrap().trim())
        .map(|line| line.split(" //~").next().unwrap())
        .collect();
    let expected = [
        "*x = 5;",
        "Baz(NULL);",
        "IoCancelSpinLock();",
        "KeReleaseIrql();",
        "assert(n > 0);",
    ];
    assert_eq!(reported, expected);
}

/// Section 5.1.1: the specification of `conc` is a disjunction, that of `a1` is none.
#[test]
fn long_clauses_can_be_pruned() {
    let tree = tree();
    cassini(
        &tree,
        &["check", ".", "--no-progress", "--checkers", "null"],
    );
    let answer = |options: &[&str], configuration: &str| {
        let arguments = [&["debug", "view", "pruned"], options].concat();
        let text = cassini(&tree, &arguments);
        let own = text.split(&format!("\n{configuration}\n")).nth(1).unwrap();
        let own = own.lines().take_while(|line| line.starts_with(' '));
        own.map(str::trim).collect::<Vec<_>>().join("\n")
    };
    let fails = "fails: line";
    assert!(!answer(&[], "conc").contains(fails));
    assert!(answer(&["--clauses", "1"], "conc").contains(fails));
    assert!(!answer(&["--clauses", "1"], "a1").contains(fails));
}

#[test]
fn the_specifications_are_those_of_the_papers() {
    let tree = tree();
    cassini(
        &tree,
        &[
            "check",
            ".",
            "--no-progress",
            "--checkers",
            "heap,null,assert",
        ],
    );
    let mut told = String::new();
    for function in [
        "figure_1",
        "figure_2",
        "ignored_conditionals",
        "pruned",
        "defensive",
        "process",
        "opposite",
        "Bar",
        "Baz",
        "FooBar",
        "Foo",
        "IoCancelSpinLock",
        "DispatchRoutine",
    ] {
        told += &format!(
            "{function}\n{}",
            cassini(&tree, &["debug", "view", function])
        );
    }
    insta::assert_snapshot!(told);
}
