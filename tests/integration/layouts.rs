//! Small shares of what `scripts/layouts`, `scripts/torture` and `scripts/csmith` show at length.

use std::path::Path;
use std::process::{Command, Output};

use crate::tools::missing;

/// Runs a script on the program under test; `None` where what it needs is not installed.
fn script(name: &str, arguments: &[&str], needs: &[&str]) -> Option<Output> {
    for tool in ["python3", "gcc"].iter().chain(needs) {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {tool}")])
            .output();
        if !found.is_ok_and(|found| found.status.success()) {
            missing(tool);
            return None;
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("python3")
        .arg(root.join("scripts").join(name))
        .args(arguments)
        .args(["--binary", env!("CARGO_BIN_EXE_cassini")])
        .current_dir(root)
        .output()
        .expect("the script runs");
    Some(output)
}

#[track_caller]
fn succeeds(output: &Output, says: &str) {
    let text = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains(says),
        "{text}{complaints}"
    );
}

#[test]
fn members_of_odd_records_lie_where_the_compiler_puts_them() {
    for compiler in TARGETS.into_iter().filter(|compiler| is_known(compiler)) {
        let arguments = ["testdata/lower/records.c", "--compiler", compiler];
        if let Some(output) = script("layouts", &arguments, &[]) {
            succeeds(&output, ", 0 differences");
            assert!(!String::from_utf8_lossy(&output.stdout).contains("not laid out"));
        }
    }
}

#[test]
fn members_of_random_records_lie_where_the_compiler_puts_them() {
    random_records("gcc", &["400", "--seed", "6"]);
}

#[test]
fn members_of_random_records_lie_where_a_compiler_for_32_bits_puts_them() {
    for compiler in TARGETS.into_iter().filter(|compiler| is_known(compiler)) {
        random_records(compiler, &["200", "--seed", "7", "--narrow"]);
    }
}

/// The compiler with options that change what types are like. Without SSE2, i386 has no `_Float16`.
const TARGETS: [&str; 5] = [
    "gcc",
    "gcc -m32 -msse2",
    "gcc -mx32",
    "gcc -m16 -msse2 -malign-double -mlong-double-64",
    "gcc -m32 -msse2 -funsigned-char -fshort-wchar",
];

/// Whether the compiler knows its options: not every gcc can make code for 32 bits.
fn is_known(compiler: &str) -> bool {
    let command = format!("{compiler} -S -x c -o /dev/null /dev/null");
    let known = Command::new("sh")
        .args(["-c", &command])
        .output()
        .is_ok_and(|made| made.status.success());
    if !known {
        missing(compiler);
    }
    known
}

fn random_records(compiler: &str, arguments: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made = Command::new("python3")
        .arg(root.join("scripts/records"))
        .args(arguments)
        .output();
    let Ok(made) = made else {
        missing("python3");
        return;
    };
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("random.c");
    std::fs::write(&file, made.stdout).expect("writes");
    let file = file.to_string_lossy();
    let arguments = [file.as_ref(), "--compiler", compiler];
    if let Some(output) = script("layouts", &arguments, &[]) {
        succeeds(&output, ", 0 differences");
    }
}

#[test]
fn a_wrong_layout_would_be_told() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("t.c");
    // With this option gcc lays bit-fields out as another compiler does; Cassini does not know it.
    std::fs::write(&file, "struct s { char c : 3; int e : 3; short f; };\n").expect("writes");
    std::fs::write(
        folder.path().join("compile_commands.json"),
        format!(
            r#"[{{"directory": {0:?}, "file": "t.c", "arguments": ["gcc", "-mms-bitfields", "-c", "t.c"]}}]"#,
            folder.path()
        ),
    )
    .expect("writes");
    let tree = folder.path().to_string_lossy();
    if let Some(output) = script("layouts", &[tree.as_ref()], &[]) {
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            !output.status.success() && text.contains("sizeof(struct s)"),
            "{text}"
        );
    }
}

#[test]
fn self_checking_programs_do_not_abort() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let right = "void abort(void); int main(void) { volatile int n = 3; if (n * 2 != 6) abort(); return 0; }";
    std::fs::write(folder.path().join("right.c"), right).expect("writes");
    let open = "int main(void) { int n; __asm__(\"movl $0, %0\" : \"=r\"(n)); if (n) return 1; return 0; }";
    std::fs::write(folder.path().join("open.c"), open).expect("writes");
    let tree = folder.path().to_string_lossy();
    if let Some(output) = script("torture", &[tree.as_ref()], &[]) {
        succeeds(&output, "1 right, 0 wrong, 1 not modelled");
    }
}

#[test]
fn random_programs_print_what_the_compiler_makes_them_print() {
    if let Some(output) = script("csmith", &["4", "--first", "100"], &["csmith"]) {
        succeeds(&output, " 0 different");
    }
}
