//! Runs the real program from different folders and on several paths: how files are named, what belongs to
//! the run, and which database a query takes.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;
use tempfile::TempDir;

use crate::tools::tree;

/// A function that takes the lock twice.
const TWICE: &str = "\
typedef struct { int word; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
void NAME(spinlock_t *lock)
{
	spin_lock(lock);
	spin_lock(lock);
}
";

/// A tree with a bug in each of these files.
fn buggy(files: &[&str]) -> TempDir {
    let texts = files.iter().enumerate();
    let texts: Vec<String> = texts
        .map(|(index, _)| TWICE.replace("NAME", &format!("twice_{index}")))
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .zip(&texts)
        .map(|(&file, text)| (file, text.as_str()))
        .collect();
    tree(&files)
}

fn cassini(folder: &Path, arguments: &[&str]) -> Assert {
    let mut command = Command::cargo_bin("cassini").expect("the binary is built for this test");
    command.current_dir(folder).args(arguments).assert()
}

fn stdout(assert: Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
}

/// The names of the files in which a text report has findings.
fn reported(assert: Assert) -> Vec<String> {
    let report = stdout(assert);
    let found = report.lines().filter(|line| line.contains(": error: "));
    found
        .filter_map(|line| Some(line.split_once(':')?.0.to_owned()))
        .collect()
}

#[test]
fn files_are_named_from_the_current_folder_and_in_json_from_the_tree() {
    let tree = buggy(&["proj/src/a.c"]);
    let root = tree.path().canonicalize().unwrap();
    let absolute = root.join("proj");
    let absolute = absolute.to_str().unwrap();
    fs::create_dir(root.join("proj/doc")).unwrap();
    for (folder, path, name) in [
        ("", "proj", "proj/src/a.c"),
        ("", absolute, "proj/src/a.c"),
        ("proj", ".", "src/a.c"),
        ("proj/src", "..", "a.c"),
        ("proj/src", "a.c", "a.c"),
        ("proj/doc", "../src", "../src/a.c"),
    ] {
        let here = root.join(folder);
        let found = reported(cassini(&here, &["check", path]));
        assert_eq!(found, [name], "{path} from `{folder}`");
        assert!(here.join(&found[0]).is_file());
    }
    let json = |folder: &str, path: &str| -> serde_json::Value {
        let report = cassini(
            &root.join(folder),
            &["check", "-q", "--format", "json", path],
        );
        serde_json::from_str(&stdout(report)).unwrap()
    };
    let (above, within) = (json("", "proj"), json("proj/src", ".."));
    assert_eq!(above["findings"], within["findings"], "fingerprints, too");
    assert_eq!(above["findings"][0]["file"], "src/a.c");
    assert_eq!(above["run"]["root"], "proj");
    assert_eq!(within["run"]["root"], "..");
    assert_eq!(json("proj/src", "a.c")["run"]["root"], ".");
}

#[test]
fn problems_and_queries_name_files_from_the_current_folder() {
    let tree = tree(&[(
        "proj/src/a.c",
        "#include <gone.h>\nint f(void) { return 1 +; }\n",
    )]);
    cassini(tree.path(), &["check", "proj"]).stderr(contains(
        "proj/src/a.c:1:10: warning: gone.h cannot be found",
    ));
    cassini(tree.path(), &["query", "failures"]).stdout(contains("proj/src/a.c:2: f: parse"));
    cassini(&tree.path().join("proj/src"), &["query", "failures"])
        .stdout(predicate::str::starts_with("a.c:2: f: parse"));
}

#[test]
fn several_paths_are_one_program_in_their_common_folder() {
    let tree = buggy(&["src/a.c", "src/net/b.c", "lib/c.c", "lib/d.c", "tools/e.c"]);
    let here = tree.path();
    let found = reported(cassini(
        here,
        &["check", "src", "lib/c.c", "src/net", "src/a.c"],
    ));
    assert_eq!(found, ["lib/c.c", "src/a.c", "src/net/b.c"]);
    assert!(here.join(".cassini").is_dir());
    // A call from one path into another is that of one program.
    let caller = "typedef struct { int w; } spinlock_t; void twice_3(spinlock_t *);\nvoid f(spinlock_t *l) { twice_3(l); }\n";
    fs::write(here.join("tools/e.c"), caller).unwrap();
    cassini(here, &["check", "tools", "lib/d.c"]).code(1);
    cassini(here, &["query", "callers", "twice_3"]).stdout(contains("f  tools/e.c:2"));
    cassini(here, &["check", "src", "gone"])
        .code(2)
        .stderr(contains("gone: No such file or directory"));
    cassini(here, &["check", "src", "/usr"])
        .code(2)
        .stderr(contains("src and /usr have no folder in common"));
}

#[test]
fn several_paths_find_their_headers_in_the_folder_that_holds_them() {
    let tree = tree(&[
        ("src/a.c", "#include <lib/x.h>\nint f(void) { return X; }\n"),
        ("tools/b.c", "int g(void) { return 0; }\n"),
        ("include/lib/x.h", "#define X 1\n"),
        ("Makefile", ""),
    ]);
    cassini(tree.path(), &["check", "src", "tools"])
        .code(0)
        .stderr(contains("2 translation units, 2 functions: all read").and(contains("x.h").not()));
}

#[test]
fn excluded_files_are_no_units_and_nothing_is_reported_in_them() {
    let header = TWICE.replace("void NAME", "static inline void in_header");
    let tree = tree(&[
        (
            "src/a.c",
            "#include \"../third/x.h\"\nvoid f(spinlock_t *l) { in_header(l); }\n",
        ),
        ("third/x.h", &header),
        ("third/b.c", &TWICE.replace("NAME", "b")),
        ("tests/deep/c.c", &TWICE.replace("NAME", "c")),
        ("src/d.c", &TWICE.replace("NAME", "d")),
    ]);
    let here = tree.path();
    assert_eq!(
        reported(cassini(here, &["check", "."])),
        ["src/d.c", "third/b.c", "third/x.h", "tests/deep/c.c"]
    );
    let fewer = cassini(
        here,
        &["check", ".", "--exclude", "tests/", "--exclude", "/third"],
    )
    .stderr(contains(
        "2 translation units (2 more left out by --exclude)",
    ));
    assert_eq!(reported(fewer), ["src/d.c"]);
    fs::write(
        here.join("cassini.toml"),
        "exclude = [\"tests\", \"d.c\"]\n",
    )
    .unwrap();
    assert_eq!(
        reported(cassini(
            here,
            &["check", ".", "--exclude", "!src/d.c", "--exclude", "*.h"]
        )),
        ["src/d.c", "third/b.c"]
    );
    let entry = |file| serde_json::json!({"directory": here, "file": file, "arguments": ["cc", "-c", file]});
    let entries = serde_json::json!([entry("src/d.c"), entry("third/b.c")]);
    fs::write(here.join("compile_commands.json"), entries.to_string()).unwrap();
    let recorded = cassini(here, &["check", "."]).stderr(contains(
        "1 translation units (1 more left out by --exclude)",
    ));
    assert_eq!(reported(recorded), ["third/b.c"]);
    cassini(here, &["check", ".", "--exclude", "*"])
        .code(2)
        .stderr(contains(
            "all translation units found in . are left out by --exclude",
        ));
    cassini(here, &["check", ".", "--exclude", "a{b"])
        .code(2)
        .stderr(contains("--exclude `a{b`: "));
}

#[test]
fn the_level_may_stand_in_the_trees_configuration() {
    let tree = buggy(&["a.c"]);
    let configure = |text| fs::write(tree.path().join("cassini.toml"), text).unwrap();
    configure("level = \"note\"\n");
    cassini(tree.path(), &["check", "."]).code(1);
    configure("# Only what is sure.\nlevel = \"high\"\n");
    cassini(tree.path(), &["check", "."])
        .code(2)
        .stderr(contains(
            "cassini.toml:2:9: unknown variant `high`, expected one of `error`",
        ));
}

#[test]
fn a_query_finds_the_database_of_the_check_just_run() {
    let tree = buggy(&["one/a.c", "two/deep/b.c"]);
    let here = tree.path();
    let callers_of = |arguments: &[&str]| {
        let query = [&["query", "callers", "spin_lock"], arguments].concat();
        cassini(here, &query)
    };
    callers_of(&[])
        .code(2)
        .stderr(contains("run `cassini check` first"));
    cassini(here, &["check", "one"]).stderr(contains("database: one/.cassini\n"));
    callers_of(&[])
        .code(0)
        .stdout(contains("twice_0  one/a.c:4"))
        .stderr(contains("the last check's database is one/.cassini"));
    cassini(here, &["check", "two/deep"]).code(1);
    callers_of(&[]).stdout(contains("twice_1  two/deep/b.c:4"));
    for database in ["one", "one/.cassini"] {
        callers_of(&["--db", database])
            .stdout(contains("twice_0  one/a.c:4"))
            .stderr("");
    }
    cassini(here, &["check", "."]).code(1);
    callers_of(&[]).stdout(contains("twice_0").and(contains("twice_1")));
    // Where there is no choice, nothing is told.
    fs::remove_dir_all(here.join("one/.cassini")).unwrap();
    fs::remove_dir_all(here.join("two/deep/.cassini")).unwrap();
    cassini(&here.join("one"), &["query", "callers", "spin_lock"])
        .stdout(contains("twice_0  a.c:4"))
        .stderr("");
}
