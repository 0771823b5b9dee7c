//! `cassini capture`: builds run as they would without it, and what they compile is recorded.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;

fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        if text.starts_with("#!") {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    folder
}

fn capture(folder: &Path, options: &[&str], build: &[&str]) -> Assert {
    let mut command = Command::cargo_bin("cassini").unwrap();
    command
        .current_dir(folder)
        .arg("capture")
        .args(options)
        .arg("--")
        .args(build);
    command.assert()
}

fn entries(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("compile_commands.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The file of each entry, relative to the tree, and its arguments but the compiler.
fn recorded(folder: &Path) -> Vec<(String, String)> {
    let root = folder.canonicalize().unwrap();
    let words = |entry: &Value| {
        let words = entry["arguments"].as_array().unwrap().iter().skip(1);
        words
            .map(|word| word.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let file = |entry: &Value| {
        let file = Path::new(entry["file"].as_str().unwrap());
        file.strip_prefix(&root).unwrap().display().to_string()
    };
    entries(folder)
        .iter()
        .map(|entry| (file(entry), words(entry)))
        .collect()
}

fn pair(file: &str, words: &str) -> (String, String) {
    (file.to_owned(), words.to_owned())
}

#[test]
fn a_build_with_many_compilers_at_once_is_recorded_whole_and_sorted() {
    let files: Vec<String> = (0..30).map(|n| format!("f{n:02}.c")).collect();
    let tree = tree(
        &files
            .iter()
            .map(|file| (file.as_str(), "int x;\n"))
            .collect::<Vec<_>>(),
    );
    let build = "for f in *.c; do cc -c $f & done; wait; test -s f07.o";
    capture(tree.path(), &[], &["sh", "-c", build])
        .code(0)
        .stderr(contains("30 compile commands recorded"));
    let expected: Vec<_> = files
        .iter()
        .map(|file| pair(file, &format!("-c {file}")))
        .collect();
    assert_eq!(recorded(tree.path()), expected);
}

#[test]
fn each_c_source_of_a_command_is_an_entry_and_nothing_else_is() {
    let tree = tree(&[
        ("a.c", "int a;\n"),
        ("b.c", "int main(void) { return 0; }\n"),
        ("s.S", ""),
        ("h.h", ""),
    ]);
    let build = "printf '%s' '-DIN=\"a b\" -c' > flags; cc @flags a.c b.c; rm flags; cc -E a.c > /dev/null; \
                 cc -c s.S; cc --version > /dev/null; echo 'int x;' | cc -x c -c - -o /dev/null; \
                 cc -c -DIN='a b' a.c -o second.o; cc -c a.c -DIN=2; cc -c a.c -DIN=2; cc a.o b.o -o prog";
    capture(
        tree.path(),
        &["-o", "compile_commands.json"],
        &["sh", "-ec", build],
    )
    .code(0);
    let expected = [
        pair("a.c", "-DIN=a b -c a.c"),
        pair("a.c", "-c -DIN=a b a.c -o second.o"),
        pair("a.c", "-c a.c -DIN=2"),
        pair("b.c", "-DIN=a b -c b.c"),
    ];
    assert_eq!(recorded(tree.path()), expected);
    assert!(tree.path().join("prog").exists());
}

#[test]
fn the_real_compiler_gets_everything_and_its_status_comes_back() {
    let tree = tree(&[
        ("a.c", "int a;\n"),
        (
            "bin/gcc-99",
            "#!/bin/sh\nprintf '<%s>' \"$@\"\ncat\nexit 7\n",
        ),
    ]);
    let build = "PATH=$PATH:$PWD/bin; printf in | gcc-99 -c a.c '' '$x `y` \"z' \"$(printf 'n\\nn')\" --; \
                 echo \" $?\"; exit 3";
    let path = std::env::var("PATH").unwrap();
    let mut command = Command::cargo_bin("cassini").unwrap();
    command.current_dir(tree.path()).env(
        "PATH",
        format!("{path}:{}", tree.path().join("bin").display()),
    );
    command.args(["capture", "--", "sh", "-c", build]);
    command
        .assert()
        .code(3)
        .stdout("<-c><a.c><><$x `y` \"z><n\nn><-->in 7\n")
        .stderr(contains("the build failed"));
    assert_eq!(recorded(tree.path())[0].0, "a.c");
}

#[test]
fn a_compiler_named_by_its_path_is_seen_through_cc() {
    let tree = tree(&[
        ("a.c", "int a;\n"),
        ("odd folder/gcc", "#!/bin/sh\nexec cc \"$@\"\n"),
    ]);
    let gcc = tree.path().join("odd folder/gcc");
    // By the environment.
    let mut command = Command::cargo_bin("cassini").unwrap();
    let link = tree.path().join("gcc");
    std::os::unix::fs::symlink(&gcc, &link).unwrap();
    command.current_dir(tree.path()).env("CC", &link);
    command
        .args(["capture", "--", "sh", "-c", "$CC -c a.c"])
        .assert()
        .code(0);
    let first = |folder: &Path| {
        entries(folder)[0]["arguments"][0]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(first(tree.path()), link.display().to_string());
    assert_eq!(
        entries(tree.path()).len(),
        1,
        "the compiler that it calls is the same call"
    );
    // By the command.
    let assignment = format!("CC={}", link.display());
    capture(
        tree.path(),
        &[],
        &["env", &assignment, "sh", "-c", "$CC -c a.c -DB"],
    )
    .code(0);
    assert_eq!(recorded(tree.path()), [pair("a.c", "-c a.c -DB")]);
    // As the command.
    capture(
        tree.path(),
        &[],
        &[link.to_str().unwrap(), "-c", "a.c", "-DC"],
    )
    .code(0);
    assert_eq!(recorded(tree.path()), [pair("a.c", "-c a.c -DC")]);
}

#[test]
fn a_compiler_cache_is_one_call_and_the_compiler_behind_it_is_recorded() {
    let cache = "#!/bin/sh\ncase ${0##*/} in ccache) exec \"$@\";; *) exec cc \"$@\";; esac\n";
    let tree = tree(&[
        ("a.c", "int a;\n"),
        ("b.c", "int b;\n"),
        ("bin/ccache", cache),
    ]);
    std::os::unix::fs::symlink("ccache", tree.path().join("bin/gcc")).unwrap();
    let path = format!(
        "{}:{}",
        tree.path().join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let mut command = Command::cargo_bin("cassini").unwrap();
    command.current_dir(tree.path()).env("PATH", path);
    command.args([
        "capture",
        "--",
        "sh",
        "-ec",
        "gcc -c a.c; ccache cc -c b.c; test -s a.o; test -s b.o",
    ]);
    command.assert().code(0);
    assert_eq!(
        recorded(tree.path()),
        [pair("a.c", "-c a.c"), pair("b.c", "-c b.c")]
    );
    for entry in entries(tree.path()) {
        let compiler = entry["arguments"][0].as_str().unwrap().to_owned();
        assert!(
            !compiler.starts_with(tree.path().to_str().unwrap()),
            "{compiler}"
        );
    }
}

#[test]
fn a_build_that_compiles_nothing_is_an_error_that_says_what_to_try() {
    let tree = tree(&[("a.c", "int a;\n")]);
    let nothing = |build: &[&str]| capture(tree.path(), &[], build).code(2);
    nothing(&["true"]).stderr(
        contains("called no compiler")
            .and(contains("make clean"))
            .and(contains("CC=gcc")),
    );
    nothing(&["sh", "-c", "cc --version"])
        .stderr(contains("compiled no C file").and(contains("make clean")));
    nothing(&["sh", "-c", "exit 4"]).stderr(contains("failed (exit status: 4)"));
    nothing(&["/no/such/build"]).stderr(contains("cannot run /no/such/build"));
    assert!(!tree.path().join("compile_commands.json").exists());
}

#[test]
fn append_keeps_what_was_recorded_before() {
    let tree = tree(&[("a.c", "int a;\n"), ("b.c", "int b;\n")]);
    capture(tree.path(), &[], &["cc", "-c", "b.c"]).code(0);
    capture(tree.path(), &["--append"], &["cc", "-c", "a.c"]).code(0);
    capture(tree.path(), &["--append"], &["cc", "-c", "a.c"]).code(0);
    assert_eq!(
        recorded(tree.path()),
        [pair("a.c", "-c a.c"), pair("b.c", "-c b.c")]
    );
}

/// Compiles that would fail, so that only empty objects let the build go on.
const SLOW: &str = "#error \"compiled after all\"\n";

#[test]
fn record_only_compiles_nothing_that_is_not_needed() {
    let tree = tree(&[("a.c", SLOW), ("b.c", SLOW), ("sub/c.c", SLOW)]);
    let build = "cc -MMD -MF a.dep -MT '$(obj)/a.o' -c a.c -o a.o; cc -m32 -Wp,-MD,.b.d -c b.c; \
                 cc -c -MD sub/c.c -o sub/c.o; ar rcs all.a a.o sub/c.o; ld -r -o ac.o a.o sub/c.o; \
                 cc -o prog ac.o -Wl,--as-needed -lm; strip prog; test -x prog";
    capture(tree.path(), &["--record-only"], &["sh", "-ec", build]).code(0);
    let expected = [
        pair("a.c", "-MMD -MF a.dep -MT $(obj)/a.o -c a.c -o a.o"),
        pair("b.c", "-m32 -Wp,-MD,.b.d -c b.c"),
        pair("sub/c.c", "-c -MD sub/c.c -o sub/c.o"),
    ];
    assert_eq!(recorded(tree.path()), expected);
    let read = |file: &str| fs::read_to_string(tree.path().join(file)).unwrap();
    assert_eq!(read("a.dep"), "$(obj)/a.o: a.c\n");
    assert_eq!(read(".b.d"), "b.o: b.c\n");
    assert_eq!(read("sub/c.d"), "sub/c.o: sub/c.c\n");
    // A 32-bit object for -m32.
    let class = |file: &str| fs::read(tree.path().join(file)).unwrap()[4];
    assert_eq!((class("a.o"), class("b.o")), (2, 1));
    // What is left behind says what it is.
    let mut prog = Command::new(tree.path().join("prog"));
    prog.assert()
        .code(126)
        .stderr(contains("clean and build again"));
}

#[test]
fn record_only_makes_the_programs_that_the_build_runs() {
    let main = "#include <stdio.h>\nint one(void), two(void), three(void), four(void);\n\
                int main(int argc, char **argv)\n{\n\
                \tprintf(\"%d %s %s\\n\", one() + two() + three() + four() + argc, argv[0], argv[1]);\n\
                \treturn 5;\n}\n";
    let tree = tree(&[
        ("main.c", main),
        ("one.c", "int one(void) { return 10; }\n"),
        ("two.c", "int two(void) { return 10; }\n"),
        ("three.c", "int three(void) { return 10; }\n"),
        ("four.c", "int four(void) { return 10; }\n"),
    ]);
    let build = "for f in main one two three four; do cc -c -MD $f.c; done; rm main.d; mkdir lib; \
                 ar rcs lib/libone.a one.o; ar rcsT thin.a two.o; ld -r -o both.o three.o four.o; \
                 cc -o prog main.o -Llib -lone thin.a both.o; touch later; \
                 (./prog x > out1 || echo $? >> out1) & (./prog y > out2 || echo $? >> out2) & wait; \
                 cp prog moved; ./moved z > out3 || true; test ! later -ot prog; test ! -e main.d";
    capture(tree.path(), &["--record-only"], &["sh", "-ec", build]).code(0);
    let read = |file: &str| fs::read_to_string(tree.path().join(file)).unwrap();
    assert_eq!(read("out1"), "42 ./prog x\n5\n");
    assert_eq!(read("out2"), "42 ./prog y\n5\n");
    assert_eq!(read("out3"), "42 ./moved z\n");
    assert_eq!(recorded(tree.path()).len(), 5);
}

#[test]
fn record_only_leaves_tests_of_the_compiler_to_the_compiler() {
    let tree = tree(&[
        ("a.c", "int a;\n"),
        ("conftest.c", SLOW),
        ("CMakeFiles/CMakeTmp/t.c", SLOW),
        ("gone.c", "int x;\n"),
    ]);
    let build = "! cc -c conftest.c; ! cc -c CMakeFiles/CMakeTmp/t.c; ! cc -c missing.c; \
                 ! echo '#error' | cc -c -x c - -o /dev/null; cc -S a.c; test -s a.s; cc -c gone.c; rm gone.c; cc -c a.c";
    capture(tree.path(), &["--record-only"], &["sh", "-ec", build]).code(0);
    let mut recorded = recorded(tree.path());
    recorded.retain(|(file, _)| file != "a.c");
    assert_eq!(recorded, [], "only a.c is left");
}

#[test]
fn what_was_recorded_is_what_check_reads() {
    let tree = tree(&[
        (
            "src/a.c",
            "#ifndef NAME\n#error no name\n#endif\n#include <h.h>\nint f(void) { return sizeof(NAME); }\n",
        ),
        ("inc/h.h", "int g(void);\n"),
    ]);
    let build = "cd src && cc '-DNAME=\"a \\\"b\\\"\"' -I../inc -c a.c";
    capture(tree.path(), &[], &["sh", "-ec", build]).code(0);
    let mut check = Command::cargo_bin("cassini").unwrap();
    let check = check
        .current_dir(tree.path())
        .args(["check", ".", "--strict"])
        .assert();
    check
        .code(0)
        .stderr(contains("1 translation units").and(contains("1 functions")));
}
