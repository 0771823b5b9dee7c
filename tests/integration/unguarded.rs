//! `cassini race` on open programs, and `cassini query guards`.
//!
//! Each fixture marks the lines of its findings; with `-DFIXED` it has none.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata")
}

fn fixture(name: &str) -> PathBuf {
    testdata().join("unguarded").join(name)
}

/// A tree with one file in it.
fn tree_of(file: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(file, folder.path().join(file.file_name().unwrap())).unwrap();
    folder
}

/// A tree with one fixture in it.
fn tree(name: &str) -> tempfile::TempDir {
    tree_of(&fixture(name))
}

fn cassini(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("cassini")
        .unwrap()
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

/// The rules and the lines of the findings.
fn findings(folder: &Path, level: &str, more: &[&str]) -> Vec<(String, u64)> {
    let mut arguments = vec!["race", ".", "--format", "json", "--level", level];
    arguments.extend(more);
    let (status, out, notes) = cassini(folder, &arguments);
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{notes}"));
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(status, i32::from(!findings.is_empty()), "{notes}");
    let mut findings: Vec<(String, u64)> = findings
        .iter()
        .map(|finding| {
            let rule = finding["rule"].as_str().unwrap();
            (rule.to_owned(), finding["line"].as_u64().unwrap())
        })
        .collect();
    findings.sort_unstable();
    findings
}

/// The lines of the findings, which are all of one rule.
fn found(folder: &Path, level: &str, more: &[&str]) -> Vec<u64> {
    let found = findings(folder, level, more).into_iter();
    let lines = found.map(|(rule, line)| {
        assert_eq!(rule, "race/unguarded", "line {line}");
        line
    });
    lines.collect()
}

/// The lines of the failures that interleavings have.
fn interleaved(folder: &Path, more: &[&str]) -> Vec<u64> {
    let found = findings(folder, "note", more).into_iter();
    let found = found.filter(|(rule, _)| rule == "race/interleaved");
    found.map(|(_, line)| line).collect()
}

fn marks(file: &Path, mark: &str) -> Vec<u64> {
    let text = fs::read_to_string(file).unwrap();
    let lines = (1..).zip(text.lines());
    let marked = lines.filter(|(_, line)| line.ends_with(mark));
    marked.map(|(number, _)| number).collect()
}

fn marked(name: &str) -> Vec<u64> {
    marks(&fixture(name), "//~ race/unguarded")
}

/// The fixtures in `testdata/beside` have functions that fail in the marked lines when two threads run them at a time, and not one after the
/// other; with `-DFIXED` none fails.
#[test]
fn functions_are_run_beside_each_other() {
    let mut count = 0;
    for entry in fs::read_dir(testdata().join("beside")).unwrap() {
        let file = entry.unwrap().path();
        let folder = tree_of(&file);
        let expected = marks(&file, "//~ race/interleaved");
        let name = file.display();
        assert_eq!(interleaved(folder.path(), &[]), expected, "{name}");
        let _ = fs::remove_dir_all(folder.path().join(".cassini"));
        let fixed = interleaved(folder.path(), &["--", "-DFIXED"]);
        assert_eq!(fixed, Vec::<u64>::new(), "{name}, fixed");
        count += 1;
    }
    assert!(count > 5);
}

#[test]
fn what_nearly_all_do_under_a_lock_is_told_where_it_is_not() {
    for name in ["server.c", "device.c", "readers.c", "apart.c", "child.c"] {
        let folder = tree(name);
        assert_eq!(found(folder.path(), "warning", &[]), marked(name), "{name}");
        // One warning for a function and a lock; what else it does without is a note.
        let all = found(folder.path(), "note", &[]);
        for line in marks(&fixture(name), "//~ note race/unguarded") {
            assert!(all.contains(&line), "{name}:{line}");
        }
        let fixed: Vec<u64> = found(folder.path(), "note", &["--", "-DFIXED"]);
        assert_eq!(fixed, Vec::<u64>::new(), "{name}");
    }
}

#[test]
fn one_job_and_several_find_the_same() {
    let folder = tree("device.c");
    let report = |jobs: &str| {
        let _ = fs::remove_dir_all(folder.path().join(".cassini"));
        cassini(folder.path(), &["race", ".", "--jobs", jobs]).1
    };
    assert_eq!(report("1"), report("4"));
}

#[test]
fn guards_are_told_with_counts() {
    let folder = tree("server.c");
    let here = folder.path();
    let (status, _, notes) = cassini(here, &["query", "guards", "struct queue"]);
    assert_eq!(status, 2, "{notes}");
    found(here, "warning", &[]);
    let (_, out, _) = cassini(
        here,
        &["query", "--format", "json", "guards", "struct queue"],
    );
    let rows: Value = serde_json::from_str(&out).unwrap();
    let rows = rows.as_array().unwrap();
    let row = |member: &str| rows.iter().find(|row| row["member"] == member);
    let count = row("struct queue.count").unwrap();
    assert_eq!(count["lock"], "struct queue.lock");
    assert_eq!(count["functions"], "3 of 4");
    assert!(
        count["without"]
            .as_str()
            .unwrap()
            .starts_with("drop_all server.c:")
    );
    assert!(
        row("struct queue.limit").is_none(),
        "it is never written: {out}"
    );
    let (_, sql, _) = cassini(
        here,
        &[
            "query",
            "--format",
            "csv",
            "sql",
            "SELECT function, access FROM member_accesses WHERE member = 'struct queue.count' AND locks = ''",
        ],
    );
    assert_eq!(sql.trim(), "function,access\ndrop_all,write");
}

#[test]
fn a_check_finds_the_same_before_and_after() {
    let folder = tree("server.c");
    let check = || cassini(folder.path(), &["check", ".", "--level", "note"]).1;
    let before = check();
    found(folder.path(), "warning", &[]);
    assert_eq!(check(), before);
    assert!(!before.contains("race/unguarded"));
}

#[test]
fn a_file_is_run_and_a_folder_is_not() {
    let folder = tree("server.c");
    let (_, _, notes) = cassini(folder.path(), &["race", "server.c"]);
    assert!(notes.contains("explored"), "{notes}");
    let (_, out, _) = cassini(folder.path(), &["race", "server.c", "--as", "open"]);
    assert!(out.contains("race/unguarded"), "{out}");
    let (_, _, notes) = cassini(folder.path(), &["race", ".", "--as", "closed"]);
    assert!(notes.contains("explored"), "{notes}");
}
