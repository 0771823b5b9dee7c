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

/// The findings about null pointers in a file of this text.
fn null_in(text: &str) -> Value {
    let tree = tempfile::tempdir().unwrap();
    fs::write(tree.path().join("a.c"), text).unwrap();
    let output = Command::cargo_bin("cassini")
        .unwrap()
        .args(["check", ".", "--format", "json", "--no-progress"])
        .args(["--level", "note", "--checkers", "null"])
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
fn they_are_in_force_in_programs_and_not_in_kernels_unless_they_are_asked_for() {
    let tree = tempfile::tempdir().unwrap();
    fs::write(
        tree.path().join("a.c"),
        "void *malloc(unsigned long); void lost(void) { char *p = malloc(1); if (p) *p = 1; }\n",
    )
    .unwrap();
    let leaks = |arguments: &[&str]| {
        let output = Command::cargo_bin("cassini")
            .unwrap()
            .args(["check", ".", "--format", "json", "--no-progress"])
            .args(arguments)
            .current_dir(tree.path())
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        of(&report["findings"], "heap/leak").len()
    };
    assert_eq!(leaks(&[]), 1);
    assert_eq!(leaks(&["--checkers", "lock"]), 0);
    let folder = tree.path().to_string_lossy();
    let command = format!(
        r#"[{{"directory": "{folder}", "file": "a.c", "command": "cc -ffreestanding -c a.c"}}]"#
    );
    fs::write(tree.path().join("compile_commands.json"), command).unwrap();
    assert_eq!(leaks(&[]), 0);
    assert_eq!(leaks(&["--checkers", "lock,heap"]), 1);
}

#[test]
fn a_variable_of_another_file_is_constant_as_long_as_nothing_writes_to_it() {
    let tree = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| fs::write(tree.path().join(file), text).unwrap();
    let leaks = || {
        let output = Command::cargo_bin("cassini")
            .unwrap()
            .args(["check", ".", "--format", "json", "--no-progress"])
            .args(["--checkers", "heap"])
            .current_dir(tree.path())
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        of(&report["findings"], "heap/leak").len()
    };
    write("value.c", "int five = 5;\n");
    write("main.c", "int main(void)\n{\n    return 0;\n}\n");
    write(
        "use.c",
        "void *malloc(unsigned long size);\nvoid free(void *block);\nextern int five;\n\
         void use(void)\n{\n    void *p = malloc(8);\n    if (five == 5)\n        free(p);\n}\n",
    );
    assert_eq!(leaks(), 0);
    // What another run has found out is no longer so.
    write("value.c", "int five = 6;\n");
    assert_eq!(leaks(), 1);
    write("value.c", "int five = 5;\n");
    assert_eq!(leaks(), 0);
    write(
        "change.c",
        "extern int five;\nvoid change(int n)\n{\n    five = n;\n}\n",
    );
    assert_eq!(leaks(), 1);
    fs::remove_file(tree.path().join("change.c")).unwrap();
    assert_eq!(leaks(), 0);
    // The rest of a program that is not all there may change it.
    fs::remove_file(tree.path().join("main.c")).unwrap();
    assert_eq!(leaks(), 1);
}

#[test]
fn results_that_a_program_often_leaves_untested_are_told_once() {
    let warnings = |tested: usize| {
        let mut text =
            "void *malloc(unsigned long); void free(void *); void note(char *);\n".to_owned();
        for number in 0..14 {
            text += &format!(
                "void use_{number}(void) {{ char *p = malloc(9); p[0] = 0; note(p); free(p); }}\n"
            );
        }
        for number in 0..tested {
            text += &format!(
                "void ask_{number}(void) {{ char *p = malloc(9); if (p) p[0] = 0; free(p); }}\n"
            );
        }
        let findings = of(&null_in(&text), "null/unchecked-result");
        assert_eq!(findings.len(), 14);
        let levels = findings.iter();
        let warnings = levels.filter(|finding| finding["level"] == "warning");
        warnings
            .map(|finding| finding["message"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert!(warnings(4).is_empty());
    let told = warnings(10);
    assert_eq!(told.len(), 1);
    assert!(told[0].ends_with("so are 13 more results of `malloc`"));
    assert_eq!(warnings(42).len(), 14);
}

#[test]
fn a_pointer_is_written_as_in_the_source() {
    let text = "void *malloc(unsigned long); static char *volatile rows[8];\n\
                void fill(short row) { rows[row] = malloc(16); rows[row][0] = 'x'; }\n";
    let messages = of(&null_in(text), "null/")
        .iter()
        .map(|finding| finding["message"].as_str().unwrap().to_owned())
        .collect::<Vec<_>>();
    let expected = "`rows[row]` is followed without a test, though `malloc` may return null";
    assert_eq!(messages, [expected]);
}
