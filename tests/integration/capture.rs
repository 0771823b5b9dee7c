//! Trees that cannot be read as they should be: the program says what is wrong and where, and the rest
//! of the run is unharmed.

use std::path::Path;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;

use crate::tools::tree;

/// `cassini check .` in `folder`.
fn check(folder: &Path, arguments: &[&str]) -> Assert {
    let mut command = Command::cargo_bin("cassini").unwrap();
    command
        .current_dir(folder)
        .args(["check", "."])
        .args(arguments)
        .assert()
}

const UNIT: &str = "int f(void) { return 0; }\n";

#[test]
fn a_header_that_cannot_be_found_is_told_with_its_place() {
    let folder = tree(&[("src/a.c", "#include <gone.h>\nint f(void) { return 0; }\n")]);
    check(folder.path(), &[]).code(0).stderr(
        contains("src/a.c:1:10: warning: gone.h cannot be found")
            .and(contains("1 translation units")),
    );
}

#[test]
fn a_file_that_does_not_preprocess_is_told_and_the_others_are_read() {
    let database =
        r#"[{"file": "bad.c", "command": "cc -c bad.c"}, {"file": "a.c", "command": "cc -c a.c"}]"#;
    let files = [
        ("bad.c", "\n#error no\n"),
        ("a.c", UNIT),
        ("compile_commands.json", database),
    ];
    let folder = tree(&files);
    check(folder.path(), &[]).code(0).stderr(
        contains("bad.c:2:2: error: ")
            .and(contains("#error no"))
            .and(contains("1 translation units (1 more failed)")),
    );
    check(folder.path(), &["--strict"]).code(2);
}

#[test]
fn a_malformed_database_is_told_with_its_place_and_the_tree_is_read_as_it_lies() {
    let folder = tree(&[
        ("a.c", UNIT),
        ("compile_commands.json", "[\n {\"file\" \"a.c\"}]"),
    ]);
    check(folder.path(), &[]).code(0).stderr(
        contains("compile_commands.json:2:10: error: expected `:`")
            .and(contains("1 translation units")),
    );
    check(folder.path(), &["-p", "compile_commands.json"])
        .code(2)
        .stderr(contains("compile_commands.json:2:10: error: expected `:`"));
}

#[test]
fn a_bad_entry_is_told_with_its_index_and_the_others_are_used() {
    let database = r#"[{"file": "gone.c", "command": "cc -c gone.c"}, {"file": "a.c", "command": "cc -c a.c"}]"#;
    let folder = tree(&[("a.c", UNIT), ("compile_commands.json", database)]);
    check(folder.path(), &[]).code(0).stderr(
        contains("compile_commands.json:1: error: entry 0: ")
            .and(contains("gone.c does not exist")),
    );
}

#[test]
fn without_a_compiler_it_says_which_it_looked_for() {
    let folder = tree(&[("a.c", UNIT)]);
    let mut command = Command::cargo_bin("cassini").unwrap();
    command
        .current_dir(folder.path())
        .env("PATH", "")
        .args(["check", "."]);
    command.assert().code(2).stderr(contains(
        "no C compiler found; looked for cc, gcc, clang in PATH",
    ));
}

#[test]
fn nothing_to_read_is_no_clean_result() {
    check(tree(&[("a.cc", UNIT)]).path(), &[])
        .code(2)
        .stderr(contains("no C translation unit found in ."));
}

#[test]
fn further_compiler_arguments_are_passed_on() {
    let folder = tree(&[("a.c", "#ifndef WANTED\n#error unwanted\n#endif\n")]);
    let unwanted = "#error unwanted";
    check(folder.path(), &[]).stderr(contains(unwanted));
    check(folder.path(), &["--", "-DWANTED"])
        .code(0)
        .stderr(contains(unwanted).not());
}

#[test]
fn one_file_is_checked_with_its_own_command() {
    let database = r#"[{"file": "a.c", "command": "cc -DWANTED -c a.c"}, {"file": "b.c", "command": "cc -c b.c"}]"#;
    let files = [
        ("a.c", "#ifndef WANTED\n#error unwanted\n#endif\n"),
        ("b.c", "#error b\n"),
    ];
    let folder = tree(&[files[0], files[1], ("compile_commands.json", database)]);
    let mut command = Command::cargo_bin("cassini").unwrap();
    command.current_dir(folder.path()).args(["check", "a.c"]);
    command
        .assert()
        .code(0)
        .stderr(contains("1 translation units").and(contains("#error").not()));
}
