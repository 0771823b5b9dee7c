//! Small trees, preprocessed by the compiler that is installed.

use super::*;
use crate::capture::{Capture, Options, capture};
use std::fs;
use tempfile::TempDir;

fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn captured(folder: &TempDir) -> Capture {
    capture(&Options::of(folder.path()).unwrap()).unwrap()
}

/// Preprocesses the only unit of a tree; the text comes without line markers.
fn only(files: &[(&str, &str)]) -> Result<(String, Vec<String>), PreprocessError> {
    let folder = tree(files);
    let capture = captured(&folder);
    assert_eq!(capture.commands.len(), 1, "{:?}", capture.problems);
    let done = Preprocessor::new(&capture.tree, Vec::new()).preprocess(&capture.commands[0])?;
    let text = String::from_utf8_lossy(&done.text).into_owned();
    let text: Vec<&str> = text
        .lines()
        .filter(|l| !l.starts_with('#') && !l.is_empty())
        .collect();
    Ok((
        text.join("\n"),
        done.notes.iter().map(Problem::to_string).collect(),
    ))
}

#[test]
fn a_database_unit_is_preprocessed_as_it_was_compiled() {
    let database = r#"[{"file": "a.c", "command": "gcc -DX='\"hi\"' -Iinc -Werror -c a.c -o no/such/dir/a.o"}]"#;
    let files = [
        ("a.c", "#include <h.h>\n#warning w\nX"),
        ("inc/h.h", "int h;"),
        ("compile_commands.json", database),
    ];
    assert_eq!(only(&files).unwrap(), ("int h;\n\"hi\"".to_owned(), vec![]));
}

#[test]
fn missing_headers_get_stand_ins_and_are_told() {
    let files = [(
        "a.c",
        "#include \"gone.h\"\n#include <../up/gone2.h>\nint a;\n#if __has_include(<other.h>)\nint b;\n#endif",
    )];
    let (text, notes) = only(&files).unwrap();
    assert_eq!(text, "int a;");
    assert_eq!(
        notes,
        [
            "a.c:1:10: warning: gone.h cannot be found; taken as empty",
            "a.c:2:10: warning: ../up/gone2.h cannot be found; taken as empty"
        ]
    );
}

#[test]
fn a_missing_config_h_is_made_of_its_template() {
    let files = [
        (
            "src/a.c",
            "#ifdef HAVE_CONFIG_H\n#include <config.h>\n#endif\n#ifdef HAVE_STDIO_H\nint a;\n#endif\nL",
        ),
        (
            "config.h.in",
            "#undef HAVE_STDIO_H\n#undef HAVE_NO_SUCH_HEADER_H\n#define L @L@\n",
        ),
    ];
    let (text, notes) = only(&files).unwrap();
    assert_eq!(text, "int a;\n0");
    assert_eq!(
        notes,
        ["src/a.c:2:10: warning: config.h cannot be found; taken from its template config.h.in"]
    );
}

#[test]
fn an_error_directive_fails_a_unit_of_a_database_but_not_a_guessed_one() {
    let source = ("a.c", "int a;\n#error \"configure me\"\nint b;");
    let (text, notes) = only(&[source]).unwrap();
    assert_eq!(text, "int a;\nint b;");
    assert_eq!(notes, ["a.c:2:2: warning: #error \"configure me\""]);
    let database = (
        "compile_commands.json",
        r#"[{"file": "a.c", "command": "gcc -c a.c"}]"#,
    );
    let error = only(&[source, database]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a.c: not preprocessed: a.c:2:2: error: #error \"configure me\""
    );
}

#[test]
fn a_missing_header_is_mended_behind_an_error_directive() {
    let (text, notes) = only(&[("a.c", "#error e\n#include <gone.h>\nint a;")]).unwrap();
    assert_eq!(text, "int a;");
    assert_eq!(notes.len(), 2, "{notes:?}");
}

#[test]
fn a_flag_that_the_compiler_does_not_know_is_left_out() {
    let database = r#"[{"file": "a.c", "command": "gcc -fblocks -DA=1 -c a.c"}]"#;
    let (text, notes) = only(&[("a.c", "A"), ("compile_commands.json", database)]).unwrap();
    assert_eq!(text, "1");
    assert_eq!(notes.len(), 1);
    assert!(
        notes[0].ends_with("does not know -fblocks; left out"),
        "{notes:?}"
    );
}

#[test]
fn a_file_that_the_command_includes_by_an_absolute_path_may_be_missing() {
    let database = r#"[{"file": "a.c", "command": "gcc -include /gone/config.h -DA=1 -c a.c"}]"#;
    let (text, notes) = only(&[("a.c", "A"), ("compile_commands.json", database)]).unwrap();
    assert_eq!(text, "1");
    assert_eq!(
        notes,
        ["a.c: warning: /gone/config.h cannot be found; not included"]
    );
}

#[test]
fn a_compiler_that_is_not_installed_is_replaced_without_its_flags() {
    let database = r#"[{"file": "a.c", "command": "no-such-gcc -mabi=odd -DA=1 -c a.c"}]"#;
    let folder = tree(&[("a.c", "A"), ("compile_commands.json", database)]);
    let capture = captured(&folder);
    let preprocessor = Preprocessor::new(&capture.tree, vec!["-UA".into(), "-DA=2".into()]);
    let notes = preprocessor.check(&capture.commands).unwrap();
    assert!(
        notes[0]
            .message
            .starts_with("no-such-gcc is not installed; /"),
        "{notes:?}"
    );
    let done = preprocessor.preprocess(&capture.commands[0]).unwrap();
    assert!(
        done.text.ends_with(b"\n2\n"),
        "{}",
        String::from_utf8_lossy(&done.text)
    );
    assert!(done.cpu > Duration::ZERO);
}

#[test]
fn without_a_compiler_it_says_what_it_looked_for() {
    let folder = tree(&[("a.c", "int a;")]);
    let capture = captured(&folder);
    let preprocessor = Preprocessor::with_path(&capture.tree, Vec::new(), OsStr::new(""));
    let error = preprocessor.check(&capture.commands).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no C compiler found; looked for cc, gcc, clang in PATH"
    );
    let error = preprocessor.preprocess(&capture.commands[0]).unwrap_err();
    assert!(error.to_string().contains("no C compiler found"), "{error}");
}

#[test]
fn a_file_already_preprocessed_is_read_as_it_is() {
    let database = r#"[{"file": "a.i", "command": "no-such-gcc -c a.i"}]"#;
    let (text, _) = only(&[("a.i", "A\nint a;"), ("compile_commands.json", database)]).unwrap();
    assert_eq!(text, "A\nint a;");
}

#[test]
fn include_folders_are_worked_out_nearest_first() {
    let files = [
        (
            "one/src/a.c",
            "#include \"lib/x.h\"\n#include <y.h>\n#include <string.h>\n",
        ),
        ("one/include/lib/x.h", "#include \"z.h\"\nint one;"),
        ("one/include/lib/z.h", "int z;"),
        ("two/include/lib/x.h", "int two;"),
        ("two/deep/y.h", "int y;"),
        ("compat/string.h", "int compat;"),
    ];
    let (text, notes) = only(&files).unwrap();
    assert!(text.starts_with("int z;\nint one;\nint y;\n"), "{text}");
    assert!(text.contains("strlen") && !text.contains("compat") && !text.contains("two"));
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn the_text_is_the_same_from_run_to_run() {
    let files = [
        (
            "a.c",
            "#include <gone.h>\nconst char *d = __DATE__ __TIME__;",
        ),
        ("gone.h.in", "int g;"),
    ];
    let folder = tree(&files);
    let capture = captured(&folder);
    let preprocessor = Preprocessor::new(&capture.tree, Vec::new());
    let text = || preprocessor.preprocess(&capture.commands[0]).unwrap().text;
    let first = text();
    assert!(String::from_utf8_lossy(&first).contains("\"<missing>/d/"));
    assert_eq!(first, text());
}

#[test]
fn a_part_of_a_project_finds_the_headers_of_the_whole() {
    let folder = tree(&[
        ("Makefile", ""),
        ("include/x/h.h", "int h;"),
        ("src/a.c", "#include <x/h.h>\n"),
    ]);
    let path = folder.path().join("src");
    let capture = capture(&Options::of(&path).unwrap()).unwrap();
    let done = Preprocessor::new(&capture.tree, Vec::new())
        .preprocess(&capture.commands[0])
        .unwrap();
    assert!(
        String::from_utf8_lossy(&done.text).contains("int h;"),
        "{:?}",
        done.notes
    );
}

#[test]
fn names_that_are_no_utf8_are_preprocessed_too() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(OsStr::from_bytes(b"a\xff.c")), "int a;").unwrap();
    let capture = captured(&folder);
    let done = Preprocessor::new(&capture.tree, Vec::new())
        .preprocess(&capture.commands[0])
        .unwrap();
    assert!(done.text.ends_with(b"int a;\n") || done.text.ends_with(b"int a;"));
    assert_eq!(capture.commands[0].name, "a\u{fffd}.c");
}
