//! `scripts/mutate` on a small tree: what is planted where, and that a run tells found from missed.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

const KINDS: [&str; 9] = [
    "delete-unlock",
    "duplicate-lock",
    "duplicate-unlock",
    "delete-lock",
    "wrong-unlock",
    "call-held",
    "swap-nested",
    "sleep-atomic",
    "drop-irqrestore",
];

/// The script's standard output, or nothing where there is no Python to run it.
fn mutate(arguments: &[&str]) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("python3")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(root.join("scripts/mutate"))
        .args(arguments)
        .output()
        .ok()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(String::from_utf8(output.stdout).unwrap())
}

fn make(out: &TempDir, arguments: &[&str]) -> Option<String> {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/mutation");
    let out = out.path().to_str().unwrap();
    mutate(&[&["make", tree.to_str().unwrap(), out], arguments].concat())
}

/// All patches, in the order of their numbers.
fn patches(out: &TempDir) -> String {
    let folder = out.path().join("patches");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect()
}

#[test]
fn each_kind_is_planted_where_it_is_a_bug() {
    let mut planted = String::new();
    for kind in KINDS {
        let out = tempfile::tempdir().unwrap();
        let Some(table) = make(&out, &["--count", "2", "--kinds", kind]) else {
            return;
        };
        assert!(table.contains(&format!("{kind}\n")), "{table}");
        planted += &format!("==== {kind}\n{}", patches(&out));
    }
    insta::assert_snapshot!(planted);
}

#[test]
fn nothing_is_planted_into_what_is_not_balanced_or_not_compiled() {
    let out = tempfile::tempdir().unwrap();
    let Some(table) = make(&out, &["untouched.c"]) else {
        return;
    };
    assert!(table.contains("    0 mutants in 0 files"), "{table}");
}

#[test]
fn a_run_scores_each_mutant_and_leaves_the_tree_alone() {
    let out = tempfile::tempdir().unwrap();
    let kinds = ["--count", "4", "--kinds", "duplicate-lock,call-held"];
    if make(&out, &kinds).is_none() {
        return;
    }
    let binary = assert_cmd::cargo::cargo_bin("cassini");
    let arguments = [
        "run",
        out.path().to_str().unwrap(),
        "--binary",
        binary.to_str().unwrap(),
    ];
    let table = mutate(&arguments).unwrap();
    let row = |name: &str| {
        let row = table.lines().find(|line| line.starts_with(name)).unwrap();
        row.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(row("duplicate-lock")[1..4], ["2", "2", "100.0"], "{table}");
    assert_eq!(row("call-held")[1..4], ["2", "2", "100.0"], "{table}");
    assert_eq!(row("their findings")[2..], ["0"], "{table}");
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/mutation");
    assert!(!tree.join(".cassini").exists());
}
