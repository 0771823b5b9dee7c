//! Runs the program on the C fixtures of `testdata/` and compares its findings with the markers
//! written in them.
//!
//! A marker is a comment at the end of a line:
//!
//! * `//~ lock/double-lock`: this finding on this line;
//! * `//~ lock/double-lock @name`: this finding somewhere in the function `name`;
//! * `//~ note RULE`, `//~ certain RULE`: a finding that is a note, or is none, on this line;
//! * `//~ clean`: on a function's line, nothing may be reported in it, and it was analysed;
//! * `//~ untouched`: the same of a function that calls nothing which touches a lock, so that there is nothing to analyse;
//! * `//~ known-false-positive RULE`: a finding that is wrong, and known to be; `note RULE`: and is a note;
//! * `//~ known-miss RULE`: a finding that should be there, and is known not to be.
//!
//! Anything else that is reported is a failure, so is anything missing, a function that was lost, and a known wrong answer
//! that has become right: its marker must then be changed. Set `FIXTURE=name` to run one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::tools::missing;

/// What a marker says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Expectation {
    Finding {
        rule: String,
        function: Option<String>,
        /// Whether it is a note; `None` if that does not matter.
        note: Option<bool>,
    },
    FalsePositive {
        rule: String,
        note: Option<bool>,
    },
    Miss {
        rule: String,
    },
    Clean {
        function: String,
        outcome: &'static str,
    },
}

#[derive(Clone, Debug)]
struct Marker {
    file: String,
    line: u64,
    expectation: Expectation,
}

/// A finding as the program's JSON tells it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    file: String,
    line: u64,
    rule: String,
    function: String,
    level: String,
    message: String,
}

/// The markers of one source text, or what is wrong with them.
fn markers(file: &str, text: &str) -> Result<Vec<Marker>, String> {
    let mut markers = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line_number = index as u64 + 1;
        let mut parts = line.split("//~");
        let code = parts.next().unwrap_or_default();
        for part in parts {
            let words: Vec<_> = part.split_whitespace().collect();
            let rule = |text: &str| {
                text.contains('/')
                    .then(|| text.to_owned())
                    .ok_or_else(|| format!("{file}:{line_number}: `{text}` is no rule"))
            };
            let expectation = match words.as_slice() {
                ["clean" | "untouched"] => Expectation::Clean {
                    function: function_name(code)
                        .ok_or_else(|| format!("{file}:{line_number}: no function here"))?,
                    outcome: match words[0] {
                        "clean" => "analysed",
                        _ => "no-op",
                    },
                },
                ["known-false-positive", level @ .., id] if level.len() < 2 => {
                    if level.iter().any(|level| *level != "note") {
                        return Err(format!("{file}:{line_number}: no level is {level:?}"));
                    }
                    Expectation::FalsePositive {
                        rule: rule(id)?,
                        note: level.first().map(|_| true),
                    }
                }
                ["known-miss", id] => Expectation::Miss { rule: rule(id)? },
                [id, place] if place.starts_with('@') => Expectation::Finding {
                    rule: rule(id)?,
                    function: Some(place[1..].to_owned()),
                    note: None,
                },
                [level @ ("note" | "certain"), id] => Expectation::Finding {
                    rule: rule(id)?,
                    function: None,
                    note: Some(*level == "note"),
                },
                [id] => Expectation::Finding {
                    rule: rule(id)?,
                    function: None,
                    note: None,
                },
                _ => return Err(format!("{file}:{line_number}: what does `{part}` mean?")),
            };
            markers.push(Marker {
                file: file.to_owned(),
                line: line_number,
                expectation,
            });
        }
    }
    Ok(markers)
}

/// The name before the first parenthesis.
fn function_name(code: &str) -> Option<String> {
    let head = code.split('(').next()?.trim_end();
    let start = head
        .rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .map_or(0, |at| at + 1);
    (code.contains('(') && start < head.len()).then(|| head[start..].to_owned())
}

/// What became of the functions of each name.
type Outcomes = BTreeMap<String, BTreeSet<String>>;

/// The functions that were lost, and those that are said to be clean and were not looked at.
fn not_analysed(markers: &[Marker], outcomes: &Outcomes) -> Vec<String> {
    let mut differences = Vec::new();
    for (function, outcomes) in outcomes {
        for outcome in ["lost", "failed", "out of budget"] {
            if outcomes.contains(outcome) {
                differences.push(format!("`{function}` is {outcome}"));
            }
        }
    }
    for marker in markers {
        if let Expectation::Clean { function, outcome } = &marker.expectation
            && !outcomes
                .get(function)
                .is_some_and(|outcomes| outcomes.contains(*outcome))
        {
            let Marker { file, line, .. } = marker;
            differences.push(format!(
                "{file}:{line}: `{function}` is not {outcome}, though clean"
            ));
        }
    }
    differences
}

/// Compares and describes every difference, one to a line; nothing if all is as expected.
fn differences(markers: &[Marker], findings: &[Found]) -> Vec<String> {
    let mut differences = Vec::new();
    let mut explained = BTreeSet::new();
    for marker in markers {
        let place = format!("{}:{}", marker.file, marker.line);
        let mut matching = |rule: &str, function: Option<&str>, note: Option<bool>| {
            let before = explained.len();
            explained.extend(findings.iter().filter(|found| {
                note.is_none_or(|note| note == (found.level == "note"))
                    && found.file == marker.file
                    && found.rule == rule
                    && match function {
                        Some(function) => found.function == function,
                        None => found.line == marker.line,
                    }
            }));
            explained.len() > before
        };
        match &marker.expectation {
            Expectation::Finding {
                rule,
                function,
                note,
            } => {
                if !matching(rule, function.as_deref(), *note) {
                    differences.push(format!("{place}: missing: {rule}"));
                }
            }
            Expectation::FalsePositive { rule, note } => {
                if !matching(rule, None, *note) {
                    differences.push(format!(
                        "{place}: the known false {rule} is gone: mark the line for what it is now"
                    ));
                }
            }
            Expectation::Miss { rule } => {
                if matching(rule, None, None) {
                    differences.push(format!(
                        "{place}: the known miss of {rule} is found now: mark it `//~ {rule}`"
                    ));
                }
            }
            Expectation::Clean { .. } => {}
        }
    }
    for found in findings.iter().filter(|found| !explained.contains(found)) {
        let clean = markers.iter().any(|marker| {
            marker.file == found.file
                && matches!(&marker.expectation, Expectation::Clean { function, .. }
                    if *function == found.function)
        });
        differences.push(format!(
            "{}:{}: not expected in `{}`{}: {} {}: {}",
            found.file,
            found.line,
            found.function,
            if clean { ", which is clean" } else { "" },
            found.level,
            found.rule,
            found.message
        ));
    }
    differences
}

/// The C sources of a fixture (a file, or a folder's files), by name relative to it.
fn sources(fixture: &Path) -> Vec<(String, String)> {
    let folder = match fixture.is_dir() {
        true => fixture,
        false => fixture.parent().unwrap(),
    };
    let read = |path: PathBuf| {
        let name = path.strip_prefix(folder).unwrap().display().to_string();
        (name, fs::read_to_string(path).unwrap())
    };
    files(fixture).into_iter().map(read).collect()
}

/// The files at and below a path, sorted.
fn files(path: &Path) -> Vec<PathBuf> {
    match path.is_dir() {
        true => entries(path)
            .iter()
            .flat_map(|entry| files(entry))
            .collect(),
        false => vec![path.to_owned()],
    }
}

/// What lies in a folder, sorted, without hidden entries: a check of the same folder may have left its
/// database there, which is no part of a fixture.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let hidden = |path: &PathBuf| path.file_name().unwrap().as_encoded_bytes()[0] == b'.';
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !hidden(path))
        .collect();
    paths.sort();
    paths
}

/// Runs `check --format json` on a copy, and returns the findings and what became of each function, or what went wrong.
fn check(
    sources: &[(String, String)],
    checkers: &str,
    options: &[&str],
) -> Result<(Vec<Found>, Outcomes), String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in sources {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let output = assert_cmd::Command::cargo_bin("cassini")
        .unwrap()
        .args([
            "check",
            "--format",
            "json",
            // What the filters leave out is tested in tests/integration/filters.rs.
            "--filter",
            "demonic",
            "--level",
            "note",
            "--no-progress",
            "--checkers",
            checkers,
            ".",
            "--",
        ])
        .args(options)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if !matches!(output.status.code(), Some(0 | 1)) {
        return Err(format!("check ended with {}: {stderr}", output.status));
    }
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("no JSON: {error}: {stderr}"))?;
    let findings = report["findings"]
        .as_array()
        .ok_or("no findings in the JSON")?;
    if (output.status.code() == Some(1)) == findings.is_empty() {
        return Err(format!("{} findings, {}", findings.len(), output.status));
    }
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let mut found: Vec<_> = findings
        .iter()
        .map(|finding| Found {
            file: text(finding, "file"),
            line: finding["line"].as_u64().unwrap_or_default(),
            rule: text(finding, "rule"),
            function: text(finding, "function"),
            level: text(finding, "level"),
            message: text(finding, "message"),
        })
        .collect();
    found.sort();
    Ok((found, outcomes(folder.path())?))
}

/// What the database says of each function.
fn outcomes(folder: &Path) -> Result<Outcomes, String> {
    let query = "SELECT name, outcome FROM functions WHERE own";
    let output = assert_cmd::Command::cargo_bin("cassini")
        .unwrap()
        .args(["query", "sql", query])
        .current_dir(folder)
        .output()
        .unwrap();
    if !output.status.success() {
        return Err(format!(
            "query: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    let mut outcomes = Outcomes::new();
    for line in String::from_utf8_lossy(&output.stdout).lines().skip(1) {
        let (name, outcome) = line.split_once('\t').ok_or("no row of two cells")?;
        outcomes
            .entry(name.to_owned())
            .or_default()
            .insert(outcome.to_owned());
    }
    Ok(outcomes)
}

/// The folders of fixtures, with the checkers that each is about.
const FOLDERS: [(&str, &str); 2] = [("lock", "lock"), ("memory", "heap,null,file,assert")];

#[test]
fn the_findings_on_the_fixtures_are_those_marked() {
    findings_are_those_marked(&[]);
}

/// Fixtures that include the C library's headers are left out, since those may be there for the machine itself only.
#[test]
fn the_findings_are_the_same_for_a_machine_of_32_bits() {
    let options = ["-m32", "-S", "-x", "c", "-o", "/dev/null", "/dev/null"];
    let compiler = std::process::Command::new("cc").args(options).output();
    if compiler.is_ok_and(|made| made.status.success()) {
        findings_are_those_marked(&["-m32"]);
    } else {
        missing("cc -m32");
    }
}

fn findings_are_those_marked(options: &[&str]) {
    let only = std::env::var("FIXTURE").ok();
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut report = String::new();
    let mut counts = [0usize; 4];
    let mut seen = false;
    let fixtures = FOLDERS.iter().flat_map(|&(folder, checkers)| {
        let fixtures = entries(&testdata.join(folder)).into_iter();
        fixtures.map(move |fixture| (fixture, checkers))
    });
    for (fixture, checkers) in fixtures {
        let name = fixture.file_stem().unwrap().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        seen = true;
        let sources = sources(&fixture);
        let has_headers = |(_, text): &(String, String)| text.contains("#include <");
        if !options.is_empty() && sources.iter().any(has_headers) {
            continue;
        }
        let mut expected = Vec::new();
        let mut wrong = Vec::new();
        for (file, text) in &sources {
            match markers(file, text) {
                Ok(markers) => expected.extend(markers),
                Err(message) => wrong.push(message),
            }
        }
        for marker in &expected {
            counts[match marker.expectation {
                Expectation::Finding { .. } => 0,
                Expectation::Clean { .. } => 1,
                Expectation::FalsePositive { .. } => 2,
                Expectation::Miss { .. } => 3,
            }] += 1;
        }
        match check(&sources, checkers, options) {
            Ok((findings, outcomes)) => {
                wrong.extend(differences(&expected, &findings));
                wrong.extend(not_analysed(&expected, &outcomes));
            }
            Err(message) => wrong.push(message),
        }
        if !wrong.is_empty() {
            let _ = writeln!(report, "{name}:");
            for line in wrong {
                let _ = writeln!(report, "  {line}");
            }
        }
    }
    assert!(seen, "there is no fixture {only:?}");
    let [findings, clean, false_positives, misses] = counts;
    eprintln!(
        "{findings} findings and {clean} clean functions marked; \
         {false_positives} known false positives, {misses} known misses"
    );
    assert!(report.is_empty(), "\n{report}");
}

/// The program that the README checks has one bug of each kind, told in its comments, and no finding
/// besides.
#[test]
fn the_demo_has_one_bug_of_each_kind() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/demo");
    let sources = sources(&folder);
    let (found, _) = check(&sources, "lock", &[]).unwrap();
    let found: Vec<_> = found
        .into_iter()
        .map(|found| (found.file, found.line, found.rule))
        .collect();
    let bug = |file: &str, rule: &str| {
        let (_, text) = sources.iter().find(|(name, _)| name == file).unwrap();
        let line = text.lines().position(|line| line.contains("BUG:")).unwrap();
        (file.to_owned(), line as u64 + 1, rule.to_owned())
    };
    assert_eq!(
        found,
        [
            bug("cache.c", "lock/double-lock"),
            bug("conn.c", "lock/inconsistent-exit"),
            bug("queue.c", "lock/double-unlock"),
        ]
    );
}

#[test]
fn differences_are_told_in_words() {
    let text = "int f(void) //~ clean\nx; //~ a/b\ny; //~ known-miss c/d\nz; //~ a/b @g\n";
    let expected = markers("t.c", text).unwrap();
    let found = |line, rule: &str, function: &str| Found {
        file: "t.c".into(),
        line,
        rule: rule.into(),
        function: function.into(),
        level: "error".into(),
        message: "m".into(),
    };
    assert_eq!(
        differences(&expected, &[found(2, "a/b", "h"), found(9, "a/b", "g")]),
        [] as [&str; 0]
    );
    assert_eq!(
        differences(&expected, &[found(1, "a/b", "f"), found(3, "c/d", "h")]),
        [
            "t.c:2: missing: a/b",
            "t.c:3: the known miss of c/d is found now: mark it `//~ c/d`",
            "t.c:4: missing: a/b",
            "t.c:1: not expected in `f`, which is clean: error a/b: m",
        ]
    );
    let levels = markers("t.c", "x; //~ note a/b\ny; //~ certain a/b\n").unwrap();
    assert_eq!(
        differences(&levels, &[found(1, "a/b", "f"), found(2, "a/b", "f")]),
        [
            "t.c:1: missing: a/b",
            "t.c:1: not expected in `f`: error a/b: m",
        ]
    );
    assert!(markers("t.c", "x //~ known-mis a/b\n").is_err());
    assert!(markers("t.c", "no function //~ clean\n").is_err());
}
