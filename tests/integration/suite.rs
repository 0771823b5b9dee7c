//! `scripts/suite`: how many cases it writes, that they are C, and that a run tells found from missed.

use std::path::Path;
use std::process::Command;

use crate::tools::missing;

/// The script's standard output, or nothing where there is no Python to run it.
fn suite(arguments: &[&str]) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("python3")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(root.join("scripts/suite"))
        .args(arguments)
        .output();
    let Ok(output) = output else {
        missing("python3");
        return None;
    };
    let (told, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{told}{errors}");
    Some(told.into_owned())
}

/// The numbers are those of docs/suite.md.
#[test]
fn as_many_cases_as_said_and_they_compile() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let Some(told) = suite(&["make", out]) else {
        return;
    };
    let total = "1689 cases with 3932 good functions in 66 flows";
    assert!(told.contains(total), "{told}");
    let told = suite(&["check", out, "--limit", "60"]).unwrap();
    assert!(told.contains("60 of 60"), "{told}");
}

/// Locks are found in the straight flow, and no good twin is reported.
#[test]
fn a_run_scores_bad_functions_and_good_ones() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let chosen = ["make", out, "--cwe", "764", "--flow", "straight"];
    if suite(&chosen).is_none() {
        return;
    }
    let binary = assert_cmd::cargo::cargo_bin("cassini");
    let told = suite(&["run", out, "--binary", binary.to_str().unwrap()]).unwrap();
    let row = told.lines().find(|line| line.starts_with("CWE-764"));
    let cells: Vec<_> = row.unwrap().split_whitespace().skip(1).collect();
    assert_eq!(cells, ["5", "5", "100.0", "%", "0", "1.00"], "{told}");
}
