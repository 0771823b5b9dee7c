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

/// The links that were recorded: kind, output and inputs, relative to the tree. Files of the system are left out.
fn links(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("compile_commands.links.json")).unwrap();
    let links: Vec<Value> = serde_json::from_str(&text).unwrap();
    let root = format!("{}/", folder.canonicalize().unwrap().display());
    let relative = |value: &Value| {
        value
            .as_str()
            .unwrap()
            .strip_prefix(&root)
            .map(str::to_owned)
    };
    let line = |link: &Value| {
        let inputs = link["inputs"].as_array().unwrap().iter();
        let inputs: Vec<String> = inputs.filter_map(relative).collect();
        let output = relative(&link["output"]).unwrap();
        format!(
            "{} {output}: {}",
            link["kind"].as_str().unwrap(),
            inputs.join(" ")
        )
    };
    links.iter().map(line).collect()
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
        ("shipped.c", SLOW),
        ("gone.c", "int x;\n"),
    ]);
    let build = "! cc -c conftest.c; ! cc -c CMakeFiles/CMakeTmp/t.c; ! cc -c missing.c; \
                 cd CMakeFiles/CMakeTmp; ! cc -c ../../shipped.c; cd ../..; \
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

/// A program in C and C++ with libraries, which the build runs; and links that only real objects make go well.
const MIXED: &[(&str, &str)] = &[
    (
        "main.c",
        "int one(void), two(void);\nint main(void) { return one() + two(); }\n",
    ),
    (
        "one.cc",
        "#include <string>\nextern \"C\" int one() { return (int)std::string(\"four\").size(); }\n",
    ),
    (
        "two.c",
        "#include <math.h>\nvolatile double x = 9;\nint two(void) { return (int)sqrt(x); }\n",
    ),
    ("map", "V1 { global: two; local: *; };\n"),
    (
        "Makefile",
        "all: result plugin.so cut.o part.o\n\
         result: prog\n\tLD_LIBRARY_PATH=lib ./prog; echo $$? > result\n\
         prog: main.o one.o lib/libtwo.so\n\t$(CXX) -o prog main.o one.o -Llib -ltwo\n\
         lib/libtwo.so: two.o\n\tmkdir -p lib; (echo '{ global:'; nm two.o | sed -n 's/.* T //p' | sed 's/$$/;/'; \\\n\
         \techo 'local: *; };') > list\n\t$(CC) -shared -Wl,-soname,libtwo.so.1 -Wl,-z,defs \\\n\
         \t-Wl,--version-script=list -o $@ two.o -lm\n\tln -s libtwo.so lib/libtwo.so.1\n\
         plugin.so: two.o\n\techo 'V { global: };' > empty; $(CC) -shared -Wl,--version-script,empty -o $@ two.o\n\
         cut.o: two.o\n\tobjcopy --update-section .data=map two.o $@\n\
         part.o: two.o\n\tld -r --require-defined=two -o $@ two.o\n\
         %.o: %.c\n\t$(CC) -fPIC -c $<\n%.o: %.cc\n\t$(CXX) -c $<\n",
    ),
];

#[test]
fn record_only_links_by_any_driver_and_makes_what_is_run() {
    for options in [&["--record-only"][..], &["--record-only", "--by-name"]] {
        let tree = tree(MIXED);
        capture(tree.path(), options, &["make", "CC=gcc", "CXX=g++"]).code(0);
        let result = fs::read_to_string(tree.path().join("result")).unwrap();
        assert_eq!(result, "7\n", "{options:?}");
        let files: Vec<String> = recorded(tree.path())
            .into_iter()
            .map(|(file, _)| file)
            .collect();
        assert_eq!(files, ["main.c", "two.c"], "{options:?}");
        assert!(
            links(tree.path()).contains(&"program prog: main.o one.o lib/libtwo.so".to_owned())
        );
        assert!(links(tree.path()).contains(&"shared plugin.so: two.o".to_owned()));
    }
}

#[test]
fn compilers_are_seen_by_whatever_path_and_environment_they_are_called() {
    let which = |name: &str| {
        let path = std::env::var_os("PATH").unwrap();
        let mut found = std::env::split_paths(&path).map(|folder| folder.join(name));
        found
            .find(|file| file.is_file())
            .unwrap()
            .display()
            .to_string()
    };
    let (gcc, ar) = (which("gcc"), which("ar"));
    for options in [&[][..], &["--record-only"]] {
        let tree = tree(&[
            ("a.c", "int a;\n"),
            ("b.c", "int b;\n"),
            ("c.c", "int c;\n"),
        ]);
        let build = format!(
            "{gcc} -c a.c; env -i {gcc} -c b.c; PATH=/usr/bin:/bin {gcc} -c c.c; {ar} cr l.a a.o b.o; \
             env | grep -c cassini-capture > environment; {gcc} -print-prog-name=ld > /dev/null"
        );
        capture(tree.path(), options, &["sh", "-ec", &build]).code(0);
        assert_eq!(recorded(tree.path()).len(), 3, "{options:?}");
        assert_eq!(links(tree.path()), ["archive l.a: a.o b.o"]);
        let compiler = entries(tree.path())[0]["arguments"][0].clone();
        assert_eq!(compiler.as_str().unwrap(), gcc);
        // Nothing but the library is in the build's environment, and no path of ours is found there.
        let lines = fs::read_to_string(tree.path().join("environment")).unwrap();
        assert_eq!(lines, "1\n");
    }
}

#[test]
fn record_only_leaves_trials_of_a_handmade_configuration_to_the_compiler() {
    let tree = tree(&[("a.c", SLOW), ("tryshm.c", SLOW)]);
    let build = "echo 'int main(void) { return no_such(); }' > x.c; cc -c x.c; ! cc -o x x.o; \
                 echo '#include <no_such.h>' > x.c; ! cc -c x.c; ! cc -c tryshm.c; rm x.c x.o; \
                 cc -c a.c; ar cr liba.a a.o; echo 'int b(void); int main(void) { return b(); }' > conftest.c; \
                 ! cc -o conftest conftest.c -L. -la; rm -f conftest.c";
    capture(tree.path(), &["--record-only"], &["sh", "-ec", build]).code(0);
    let files: Vec<String> = recorded(tree.path())
        .into_iter()
        .map(|(file, _)| file)
        .collect();
    assert_eq!(files, ["a.c", "tryshm.c"]);
    assert_eq!(links(tree.path()), ["archive liba.a: a.o"]);
}

#[test]
fn record_only_makes_a_library_that_a_program_loads() {
    let tree = tree(&[
        (
            "host.c",
            "#include <dlfcn.h>\n#include <stdio.h>\nint main(int n, char **v) {\n\
                    void *h = dlopen(v[1], RTLD_NOW);\nint (*f)(void) = h ? (int (*)(void))dlsym(h, \"f\") : 0;\n\
                    printf(\"%d\\n\", f ? f() : -1);\nreturn 0;\n}\n",
        ),
        ("f.c", "int g(void);\nint f(void) { return g() + 1; }\n"),
        ("g.c", "int g(void) { return 41; }\n"),
    ]);
    let host = tree.path().join("host");
    let mut compile = std::process::Command::new("cc");
    compile
        .current_dir(tree.path())
        .args(["-o", "host", "host.c", "-ldl"]);
    assert!(compile.status().unwrap().success());
    let build = format!(
        "cc -fPIC -c f.c; cc -fPIC -c g.c; cc -shared -o libg.so g.o; \
         cc -shared -o f.so f.o -L. -lg -Wl,-rpath,$PWD; cp f.so copy.so; touch later; \
         {0} ./f.so > out; {0} ./copy.so >> out; test ! later -ot f.so",
        host.display()
    );
    capture(tree.path(), &["--record-only"], &["sh", "-ec", &build]).code(0);
    let out = fs::read_to_string(tree.path().join("out")).unwrap();
    assert_eq!(out, "42\n42\n");
}

#[test]
fn what_is_linked_of_what_is_written_beside_the_commands() {
    let unit = |name: &str| (format!("{name}.c"), format!("int {name};\n"));
    let mut files: Vec<(String, String)> = ["a", "b", "c", "d", "e", "sub/f"].map(unit).into();
    files[5].1 = "int f;\n".to_owned();
    files.push(("main.c".into(), "int main(void) { return 0; }\n".into()));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let build = "for f in a b c d e sub/f; do cc -c $f.c -o $f.o; done; cc -c main.c; \
        ar cr libab.a a.o b.o; ar r libab.a a.o; mkdir x lib; cd x; ar x ../libab.a; cd ..; \
        ar cr lib/liball.a x/a.o x/b.o c.o; ar d lib/liball.a c.o; ar q lib/liball.a sub/f.o; \
        mv d.o moved.o; cp e.o lib/copy.o; ld -r -o both.o lib/copy.o c.o; \
        echo '-Wl,--start-group,lib/liball.a,both.o,--end-group' > response; cc main.o @response -o one; \
        cc -shared -o lib/libtwo.so moved.o; ln -s libtwo.so lib/libtwo.so.1; \
        cd sub; cc ../main.c -o two -L ../lib -ltwo -lall -Wl,-Map,map -lm; cd ..; rm -r x";
    let expected = [
        "relocatable both.o: e.o c.o",
        "archive lib/liball.a: a.o b.o sub/f.o",
        "shared lib/libtwo.so: d.o",
        "archive libab.a: a.o b.o",
        "program one: main.o lib/liball.a both.o",
        "program sub/two: main.c lib/libtwo.so lib/liball.a",
    ];
    for options in [&[][..], &["--record-only"]] {
        let tree = tree(&files);
        capture(tree.path(), options, &["sh", "-ec", build]).code(0);
        assert_eq!(links(tree.path()), expected, "{options:?}");
        let root = tree.path().canonicalize().unwrap();
        let outputs = entries(tree.path());
        let output = |file: &str| {
            let named = |entry: &&Value| entry["file"].as_str() == root.join(file).to_str();
            let entry = outputs.iter().find(named).unwrap();
            entry["output"].as_str().unwrap().to_owned()
        };
        assert_eq!(
            output("sub/f.c"),
            root.join("sub/f.o").display().to_string()
        );
        // More of the same build.
        let more = "ar r libab.a c.o; cc main.o c.o -o three";
        let more = format!("cc -c c.c; {more}");
        let options = [options, &["--append"]].concat();
        capture(tree.path(), &options, &["sh", "-ec", &more]).code(0);
        let added = links(tree.path());
        assert!(
            added.contains(&"archive libab.a: a.o b.o c.o".to_owned()),
            "{added:?}"
        );
        assert!(
            added.contains(&"program three: main.o c.o".to_owned()),
            "{added:?}"
        );
        assert_eq!(added.len(), expected.len() + 1);
    }
}

#[test]
fn a_build_that_fails_says_what_failed_and_what_to_try() {
    let tree = tree(&[
        ("a.c", "int a;\n"),
        ("b.c", "int b;\n"),
        (
            "Makefile",
            "all: a.o bad b.o\n%.o: %.c\n\tcc -c $<\nbad:\n\tfalse\n",
        ),
    ]);
    capture(tree.path(), &["--record-only"], &["make"])
        .code(2)
        .stderr(
            contains("make: *** [Makefile:5: bad] Error 1")
                .and(contains(
                    "first of all: Makefile:5: bad. Units recorded until then: 1.",
                ))
                .and(contains("make -k, ninja -k 0"))
                .and(contains("without --record-only")),
        );
    assert_eq!(recorded(tree.path()).len(), 1);
    capture(tree.path(), &[], &["make", "-k"])
        .code(2)
        .stderr(contains("--record-only").not());
    assert_eq!(recorded(tree.path()).len(), 1, "a.o is there already");
}

#[test]
fn a_program_that_the_build_leaves_running_keeps_nobody_waiting() {
    let tree = tree(&[("a.c", "int a;\n")]);
    let started = std::time::Instant::now();
    capture(
        tree.path(),
        &[],
        &["sh", "-c", "cc -c a.c; sleep 60 & echo out; echo err >&2"],
    )
    .code(0)
    .stdout("out\n")
    .stderr(contains("err\n"));
    assert!(started.elapsed() < std::time::Duration::from_secs(30));
}
