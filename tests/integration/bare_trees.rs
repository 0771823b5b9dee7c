//! Trees without a compile database, as they come out of an archive: which configuration is taken, and what is
//! said where locks lie in code that the preprocessor leaves out.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;

use crate::tools::tree;

/// A function that takes a lock twice, if threads are wanted.
const TWICE: &str = "\
#ifdef WITH_THREADING
#include <pthread.h>
static pthread_mutex_t lock;
#endif
int twice(int x)
{
#ifdef WITH_THREADING
	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&lock);
#endif
	return x;
}
";

fn check(folder: &Path, arguments: &[&str]) -> Assert {
    let mut command = Command::cargo_bin("cassini").expect("the binary is built for this test");
    command
        .current_dir(folder)
        .arg("check")
        .args(arguments)
        .assert()
}

/// The functions of the program.
fn functions(folder: &Path) -> String {
    let mut command = Command::cargo_bin("cassini").unwrap();
    let query = ["query", "sql", "SELECT name FROM functions ORDER BY name"];
    let output = command.current_dir(folder).args(query).assert().code(0);
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    text.lines().skip(1).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_template_goes_before_another_systems_configuration() {
    let source = "#include \"config.h\"\n#ifdef ON_UNIX\nint unix_only(void) { return 0; }\n#else\nint other(void) { return 0; }\n#endif\n";
    let files = [
        ("src/a.c", source),
        ("src/win32/config.h", "#define ON_WINDOWS 1\n"),
        (
            "src/win32/w.c",
            "#include \"config.h\"\n#ifdef ON_WINDOWS\nint windows(void) { return 0; }\n#endif\n",
        ),
        ("config.h.in", "#define ON_UNIX 1\n"),
    ];
    let folder = tree(&files);
    check(folder.path(), &["."]).code(0).stderr(
        contains("config.h cannot be found; taken from its template config.h.in").and(contains(
            "config.h is made of its template; src/win32/config.h was not taken for it",
        )),
    );
    assert_eq!(functions(folder.path()), "unix_only windows");
    // One that a configure script has left there is the program's.
    fs::write(folder.path().join("config.h"), "#define OTHER\n").unwrap();
    check(folder.path(), &["."])
        .code(0)
        .stderr(contains("template").not());
    assert_eq!(functions(folder.path()), "other windows");
}

#[test]
fn what_a_template_leaves_open_is_decided_as_on_this_machine() {
    let source = "#include <config.h>\n\
        #if defined(HAVE_STRDUP) && !defined(HAVE_STRLCPY_S) && HAVE_DECL_STRTOL && defined(HAVE_STRUCT_STAT_ST_MTIM)\nint functions(void);\nint functions(void) { return 0; }\n#endif\n\
        #if defined(HAVE_SYS_TYPES_H) && !defined(HAVE_WINDOWS_H)\nint headers(void) { return 0; }\n#endif\n\
        #if SIZEOF_LONG == 8 && FLAG == 0\nint sizes(void) { return 0; }\n#endif\n\
        #ifdef HAVE_PTHREAD\nint threads(void) { return 0; }\n#endif\n";
    let names = [
        "HAVE_STRDUP",
        "HAVE_STRLCPY_S",
        "HAVE_DECL_STRTOL",
        "HAVE_STRUCT_STAT_ST_MTIM",
        "HAVE_SYS_TYPES_H",
        "HAVE_WINDOWS_H",
        "SIZEOF_LONG",
        "HAVE_PTHREAD",
    ];
    let template = |directive: &str| -> String {
        let lines = names.iter().map(|name| format!("#{directive} {name}\n"));
        lines.collect()
    };
    for (file, directive) in [
        ("config.h.in", "undef"),
        ("cmake/config.h.cmake", "cmakedefine"),
        ("config.h.meson", "mesondefine"),
    ] {
        let folder = tree(&[("src/a.c", source), (file, &template(directive))]);
        check(folder.path(), &["."]).code(0);
        assert_eq!(
            functions(folder.path()),
            "functions headers sizes threads",
            "{file}"
        );
    }
    // meson writes a header without a template.
    let folder = tree(&[
        (
            "src/a.c",
            "#include \"config.h\"\n#ifdef HAVE_STRDUP\nint f(void) { return 0; }\n#endif\n",
        ),
        (
            "meson.build",
            "configure_file(output: 'config.h', configuration: conf)\n",
        ),
    ]);
    check(folder.path(), &["."])
        .code(0)
        .stderr(contains("config.h cannot be found; it has no template"));
    assert_eq!(functions(folder.path()), "f");
}

#[test]
fn locks_that_the_preprocessor_leaves_out_are_told_with_what_brings_them_in() {
    let folder = tree(&[
        ("lib/a.c", TWICE),
        (
            "lib/w.c",
            "#ifdef _WIN32\nint f(void) { pthread_mutex_lock(0); return 0; }\n#endif\nint g;\n",
        ),
    ]);
    check(folder.path(), &["lib"]).code(0).stderr(
        contains("no function touches a lock, though the files have 3 calls of lock functions:\n")
            .and(contains(
                "  2 the preprocessor leaves out; they come in with -DWITH_THREADING (lib/a.c:8 is the first)\n",
            ))
            .and(contains("  1 are left out under `#ifdef _WIN32` (lib/w.c:2)\n"))
            .and(contains("try: cassini check lib -- -DWITH_THREADING\n")),
    );
    check(folder.path(), &["lib", "--", "-DWITH_THREADING"])
        .code(1)
        .stdout(contains("lib/a.c:9:2: error: "))
        .stderr(contains("no function touches").not());
}

#[test]
fn lock_functions_that_a_header_makes_nothing_of_are_told_too() {
    let source = "#ifdef THREADED\n#include <pthread.h>\n#else\n#include \"dummy.h\"\n#endif\n\
        int f(pthread_mutex_t *m) { pthread_mutex_lock(m); return 0; }\n";
    let dummy = "#define pthread_mutex_t int\n#define pthread_mutex_lock(m)\n";
    let folder = tree(&[("a.c", source), ("dummy.h", dummy)]);
    check(folder.path(), &["."]).code(0).stderr(
        contains("they come in with -DTHREADED (a.c:6)")
            .and(contains("try: cassini check . -- -DTHREADED\n")),
    );
    check(folder.path(), &[".", "--", "-DTHREADED"]).stderr(contains("1 of them touches a lock"));
}

#[test]
fn calls_within_a_macro_are_tried_where_the_macro_is_used() {
    let header = "#ifdef T\n#include <pthread.h>\n#define LOCK(m) pthread_mutex_lock(m)\n#else\n#define LOCK(m)\n#endif\n";
    let many: Vec<(String, String)> = (0..40)
        .map(|n| (format!("a{n}.c"), format!("#include \"l.h\"\nint f{n};\n")))
        .collect();
    let mut files: Vec<(&str, &str)> = many.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    files.push(("l.h", header));
    files.push(("z.c", "#include \"l.h\"\nvoid f(void *m) { LOCK(m); }\n"));
    let folder = tree(&files);
    check(folder.path(), &["."])
        .code(0)
        .stderr(contains("they come in with -DT (l.h:3)"));
}

#[test]
fn a_tree_without_lock_calls_is_told_so() {
    let folder = tree(&[(
        "a.c",
        "/* pthread_mutex_lock(x) */\nint f(void) { return 0; }\n",
    )]);
    check(folder.path(), &["."]).code(0).stderr(contains(
        "the files have no call of a lock function that Cassini knows",
    ));
}

#[test]
fn a_share_left_out_beside_functions_that_lock_is_told_if_asked_for() {
    let own = "#include <pthread.h>\nvoid h(pthread_mutex_t *m)\n{\n\tpthread_mutex_lock(m);\n\tpthread_mutex_unlock(m);\n}\n";
    let folder = tree(&[("a.c", TWICE), ("b.c", own)]);
    let told = "of the files' 4 calls of lock functions the preprocessor leaves out 2:";
    check(folder.path(), &["."])
        .code(0)
        .stderr(contains(told).not());
    check(folder.path(), &["-v", "."])
        .code(0)
        .stderr(contains(told));
}

#[test]
fn options_that_build_files_turn_on_are_on() {
    for (name, text) in [
        (
            "CMakeLists.txt",
            "option(WITH_THREADING \"threads\" ON)\nif(WITH_THREADING)\n  add_definitions(-DWITH_THREADING)\nendif()\n",
        ),
        (
            "Makefile",
            "WITH_THREADING:=yes\nifeq ($(WITH_THREADING),yes)\nCFLAGS:=$(CFLAGS) -DWITH_THREADING\nendif\n",
        ),
        ("Makefile.am", "AM_CPPFLAGS = -DWITH_THREADING\n"),
        (
            "meson.build",
            "add_project_arguments('-DWITH_THREADING', language: 'c')\n",
        ),
    ] {
        let folder = tree(&[("lib/a.c", TWICE), (name, text)]);
        check(folder.path(), &["-v", "."])
            .code(1)
            .stdout(contains("lib/a.c:9:2: error: "))
            .stderr(contains(
                "1 macros are defined as the tree's build files say",
            ));
    }
    // Autoconf's go into the header that is made of the template.
    let source = TWICE.replacen("#ifdef", "#include <config.h>\n#ifdef", 1);
    let folder = tree(&[
        ("a.c", &source),
        ("config.h.in", "#undef WITH_THREADING\n"),
        (
            "configure.ac",
            "AC_DEFINE([WITH_THREADING], [1], [Define if threads are wanted])\n",
        ),
    ]);
    check(folder.path(), &["."]).code(1);
}

#[test]
fn a_definition_that_breaks_a_unit_is_left_out() {
    let source = "#ifdef FOR_KERNEL\n#error no kernel\n#endif\nint f(void) { return 0; }\n";
    let folder = tree(&[("a.c", source), ("Makefile", "CFLAGS = -DFOR_KERNEL\n")]);
    check(folder.path(), &["."]).code(0).stderr(contains(
        "a.c:2:2: warning: without what the build files define: #error no kernel",
    ));
    assert_eq!(functions(folder.path()), "f");
}

#[test]
fn a_definition_that_asks_for_a_header_that_is_not_there_is_left_out() {
    let source = "#if defined(WITH_GONE) && defined(WITH_MORE)\n#include <gone/gone.h>\nint with(void) { return 0; }\n#endif\n\
        #ifdef WITH_MORE\nint more(void) { return 0; }\n#endif\n";
    let folder = tree(&[
        ("a.c", source),
        ("Makefile", "CFLAGS = -DWITH_GONE -DWITH_MORE\n"),
    ]);
    check(folder.path(), &["."]).code(0).stderr(contains(
        "gone/gone.h cannot be found; read without the build files' -DWITH_GONE, which asks for it",
    ));
    assert_eq!(functions(folder.path()), "more");
}
