//! The checkers of memory and files beside those of locks, end to end.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

/// The findings of a folder's files, as JSON.
fn check(folder: &str, options: &[&str]) -> Value {
    let tree = tempfile::tempdir().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, tree.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let output = Command::cargo_bin("cassini")
        .unwrap()
        .args(["check", ".", "--format", "json", "--level", "note"])
        .arg("--no-progress")
        .args(options)
        .current_dir(tree.path())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["findings"].clone()
}

/// Those whose rule begins so.
fn of(findings: &Value, rules: &str) -> Vec<Value> {
    let all = findings.as_array().unwrap().iter();
    let wanted = all.filter(|finding| finding["rule"].as_str().unwrap().starts_with(rules));
    wanted.cloned().collect()
}

#[test]
fn findings_about_locks_are_the_same_with_other_checkers_beside() {
    let alone = check("testdata/demo", &["--checkers", "lock"]);
    let beside = check("testdata/demo", &["--checkers", "lock,heap,null,file"]);
    assert_eq!(of(&alone, "lock/"), of(&beside, "lock/"));
    assert!(!of(&alone, "lock/").is_empty());
}

#[test]
fn findings_about_memory_are_the_same_with_locks_beside_and_whatever_the_number_of_jobs() {
    let memory = ["--checkers", "heap,null,file"];
    let one = check("testdata/memory", &[&memory[..], &["--jobs", "1"]].concat());
    let eight = check("testdata/memory", &[&memory[..], &["--jobs", "8"]].concat());
    assert_eq!(one, eight);
    let beside = check("testdata/memory", &["--checkers", "lock,heap,null,file"]);
    for rules in ["heap/", "null/", "file/"] {
        assert_eq!(of(&one, rules), of(&beside, rules));
        assert!(!of(&one, rules).is_empty());
    }
}

#[test]
fn they_are_not_in_force_unless_they_are_asked_for() {
    let findings = check("testdata/memory", &[]);
    assert_eq!(findings, Value::Array(Vec::new()));
}
