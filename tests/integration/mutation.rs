//! `scripts/mutate` on a small tree: what is planted where, and that a run tells found from missed.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::tools::missing;

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

const MEMORY_KINDS: [&str; 10] = [
    "delete-check",
    "use-before-check",
    "null-to-callee",
    "use-after-free",
    "use-after-free-callee",
    "double-free",
    "double-free-exit",
    "delete-free",
    "delete-close",
    "use-after-close",
];

const RACE_KINDS: [&str; 3] = ["drop-lock", "early-unlock", "late-lock"];

/// The script's standard output, or nothing where there is no Python to run it.
fn mutate(arguments: &[&str]) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("python3")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(root.join("scripts/mutate"))
        .args(arguments)
        .output();
    let Ok(output) = output else {
        missing("python3");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(String::from_utf8(output.stdout).unwrap())
}

fn make(out: &TempDir, arguments: &[&str]) -> Option<String> {
    make_of("testdata/mutation", out, arguments)
}

fn make_of(tree: &str, out: &TempDir, arguments: &[&str]) -> Option<String> {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join(tree);
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

/// What allocates and releases in other files is known by its definition, and is never planted into.
#[test]
fn each_kind_of_memory_bug_is_planted_where_it_is_one() {
    let mut planted = String::new();
    for kind in MEMORY_KINDS {
        let out = tempfile::tempdir().unwrap();
        let chosen = ["--bugs", "memory", "--count", "2", "--kinds", kind];
        let Some(table) = make_of("testdata/mutation_memory", &out, &chosen) else {
            return;
        };
        assert!(table.contains(&format!("{kind}\n")), "{table}");
        assert!(!table.contains("    0 mutants"), "{table}");
        planted += &format!("==== {kind}\n{}", patches(&out));
    }
    assert!(!planted.contains("untouched.c"), "{planted}");
    insta::assert_snapshot!(planted);
}

#[test]
fn each_kind_of_race_is_planted_where_it_is_one() {
    let mut planted = String::new();
    for kind in RACE_KINDS {
        let out = tempfile::tempdir().unwrap();
        let chosen = ["--bugs", "races", "--count", "2", "--kinds", kind];
        let Some(table) = make_of("testdata/mutation_races", &out, &chosen) else {
            return;
        };
        assert!(!table.contains("    0 mutants"), "{table}");
        planted += &format!("==== {kind}\n{}", patches(&out));
    }
    insta::assert_snapshot!(planted);
}

/// Where another lock guards the same, all is well without the one.
#[test]
fn no_race_is_planted_where_two_locks_are_held() {
    let out = tempfile::tempdir().unwrap();
    let chosen = ["--bugs", "races", "--count", "20"];
    if make_of("testdata/mutation_threads", &out, &chosen).is_none() {
        return;
    }
    let mutants = fs::read_to_string(out.path().join("mutants.jsonl")).unwrap();
    assert!(mutants.contains("pool_take"), "{mutants}");
    for both in ["pool_rename", "pool_reset", "pool_size"] {
        assert!(!mutants.contains(both), "{mutants}");
    }
}

/// A race is between functions: they are looked for in whole trees.
#[test]
fn planted_races_are_found() {
    let out = tempfile::tempdir().unwrap();
    let chosen = ["--bugs", "races", "--count", "2", "--kinds", "drop-lock"];
    if make_of("testdata/mutation_races", &out, &chosen).is_none() {
        return;
    }
    let binary = assert_cmd::cargo::cargo_bin("cassini");
    let arguments = [
        "run",
        out.path().to_str().unwrap(),
        "--whole",
        "--binary",
        binary.to_str().unwrap(),
    ];
    let table = mutate(&arguments).unwrap();
    let row = table.lines().find(|line| line.starts_with("all")).unwrap();
    let cells: Vec<_> = row.split_whitespace().collect();
    // A read alone is a note.
    assert_eq!(cells[1..3], ["2", "1"], "{table}");
}

#[test]
fn no_memory_bug_is_planted_into_what_may_have_one() {
    let out = tempfile::tempdir().unwrap();
    let chosen = ["untouched.c", "--bugs", "memory"];
    let Some(table) = make_of("testdata/mutation_memory", &out, &chosen) else {
        return;
    };
    assert!(table.contains("    0 mutants in 0 files"), "{table}");
}

/// gcc finds one of two at least, and is told apart from analysers of locks.
#[test]
fn a_set_of_memory_bugs_is_scored_with_its_own_analysers() {
    let out = tempfile::tempdir().unwrap();
    let chosen = ["--bugs", "memory", "--count", "2", "--kinds", "double-free"];
    if make_of("testdata/mutation_memory", &out, &chosen).is_none() {
        return;
    }
    let table = mutate(&["run", out.path().to_str().unwrap(), "--analyser", "gcc"]).unwrap();
    let row = table.lines().find(|line| line.starts_with("double-free"));
    let cells: Vec<_> = row.unwrap().split_whitespace().collect();
    assert_eq!(cells[1], "2", "{table}");
    assert_ne!(cells[2], "0", "{table}");
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

/// POSIX locks are taken through a macro around a function of another file, and released through a macro around the primitive.
/// What another configuration locks is not locked here, and kinds that need a kernel are left out.
#[test]
fn wrappers_of_posix_locks_are_found_by_their_definitions() {
    let out = tempfile::tempdir().unwrap();
    let Some(table) = make_of("testdata/mutation_threads", &out, &["--count", "60"]) else {
        return;
    };
    assert!(!table.contains("sleep-atomic"), "{table}");
    let mutants = fs::read_to_string(out.path().join("mutants.jsonl")).unwrap();
    for planted in [
        "deleted `POOL_LEAVE(pool);`",
        "deleted `names_lock(pool);`",
        "`names_lock(pool);` once more",
        "`names_unlock(pool)` instead of `POOL_LEAVE(pool);`",
        "`pool_take(pool);` takes",
        "`names_lock(pool)` before `POOL_ENTER(pool)`; `pool_size`",
    ] {
        assert!(mutants.contains(planted), "{planted} not in {mutants}");
    }
    for untouched in ["pool_statistics", "checked_lock", "wrappers.c"] {
        let function = format!("\"{untouched}\"");
        assert!(!mutants.contains(&function), "{untouched} in {mutants}");
    }
}

/// A wrapper of another file means nothing to an analyser of one file: the whole tree is analysed with each mutant.
#[test]
fn a_mutant_that_only_the_whole_tree_shows_is_found_there() {
    let out = tempfile::tempdir().unwrap();
    let kinds = ["pool.c", "--count", "2", "--kinds", "duplicate-lock"];
    if make_of("testdata/mutation_threads", &out, &kinds).is_none() {
        return;
    }
    let binary = assert_cmd::cargo::cargo_bin("cassini");
    let run = |more: &[&str]| {
        let arguments = [
            "run",
            out.path().to_str().unwrap(),
            "--binary",
            binary.to_str().unwrap(),
        ];
        let table = mutate(&[&arguments, more].concat()).unwrap();
        let row = table.lines().find(|line| line.starts_with("all")).unwrap();
        row.split_whitespace().nth(2).unwrap().to_owned()
    };
    assert_eq!((run(&[]), run(&["--whole"])), ("0".into(), "2".into()));
}

/// Two trees are one set; each mutant is listed with its own.
#[test]
fn several_trees_are_one_set() {
    let out = tempfile::tempdir().unwrap();
    let threads = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/mutation_threads");
    let also = [
        "--also",
        threads.to_str().unwrap(),
        "--count",
        "8",
        "--kinds",
        "duplicate-unlock",
    ];
    if make(&out, &also).is_none() {
        return;
    }
    let mutants = fs::read_to_string(out.path().join("mutants.jsonl")).unwrap();
    assert!(mutants.contains("\"file\": \"pool.c\""), "{mutants}");
    assert!(mutants.contains("\"file\": \"queue.c\""), "{mutants}");
}
