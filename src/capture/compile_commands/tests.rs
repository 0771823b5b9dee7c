//! Databases as builds write them, and broken ones.

use super::*;
use tempfile::TempDir;

/// A tree with `files`, all empty, and a database.
fn tree(files: &[&str], database: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
    fs::write(folder.path().join(FILE_NAME), database).unwrap();
    folder
}

fn read_at(folder: &Path, scope: &str) -> (Result<Vec<CompileCommand>, Problem>, Vec<String>) {
    let scope = Scope::new(&[folder.join(scope)]).unwrap();
    let tree = Tree::of(&scope).unwrap();
    let mut problems = Vec::new();
    let commands = read(&folder.join(FILE_NAME), &tree, &scope, &mut problems);
    let commands = commands.map(|(commands, _)| commands);
    let prefix = format!("{}/", folder.display());
    (
        commands,
        problems
            .iter()
            .map(|problem| problem.to_string().replace(&prefix, ""))
            .collect(),
    )
}

fn names(commands: &[CompileCommand]) -> Vec<&str> {
    commands
        .iter()
        .map(|command| command.name.as_str())
        .collect()
}

#[test]
fn reads_both_forms_with_odd_quoting_and_relative_paths() {
    let folder = tree(
        &["src/a.c", "src/b.c"],
        r#"[
              {"directory": "src", "file": "a.c",
               "command": "gcc -DN='\"net/tso\"' \"-DB=a b\" -DC=\\\"x\\\" -I'in c' -c a.c -o a.o"},
              {"directory": ".", "file": "./src/b.c", "arguments": ["cc", "-DN=\"q\" r", "-c", "src/b.c"]}
            ]"#,
    );
    let (commands, problems) = read_at(folder.path(), ".");
    let commands = commands.unwrap();
    assert_eq!(names(&commands), ["src/a.c", "src/b.c"]);
    assert_eq!(
        commands[0].arguments,
        ["-DN=\"net/tso\"", "-DB=a b", "-DC=\"x\"", "-Iin c"]
    );
    assert_eq!(commands[0].directory, folder.path().join("src"));
    assert_eq!(commands[1].arguments, ["-DN=\"q\" r"]);
    assert_eq!(commands[1].spelling, "src/b.c");
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn the_same_unit_twice_is_one_and_with_other_flags_two() {
    let entry = |flags: &str, out: &str| {
        format!(r#"{{"file": "a.c", "command": "gcc {flags} -c a.c -o {out}"}}"#)
    };
    let list = [
        entry("-DA", "1.o"),
        entry("-DA -MD", "2.o"),
        entry("-DB", "3.o"),
    ];
    let folder = tree(&["a.c"], &format!("[{}]", list.join(",")));
    assert_eq!(
        names(&read_at(folder.path(), ".").0.unwrap()),
        ["a.c", "a.c"]
    );
}

#[test]
fn bad_entries_are_reported_and_the_rest_is_unharmed() {
    let folder = tree(
        &["a.c"],
        r#"[
              {"file": "a.c", "command": "gcc -c 'a.c"},
              {"file": 5},
              {"file": "a.c"},
              {"file": "gone.c", "command": "gcc -c gone.c"},
              {"file": "a.c", "command": "gcc -c a.c"}
            ]"#,
    );
    let (commands, problems) = read_at(folder.path(), ".");
    assert_eq!(names(&commands.unwrap()), ["a.c"]);
    assert_eq!(
        problems[0],
        "compile_commands.json:2: error: entry 0: the command has an unclosed quote"
    );
    assert!(
        problems[1].starts_with("compile_commands.json:3: error: entry 1: invalid type: integer")
    );
    assert_eq!(
        problems[2],
        "compile_commands.json:4: error: entry 2: neither `command` nor `arguments`"
    );
    assert_eq!(
        problems[3],
        format!("compile_commands.json:5: error: entry 3: gone.c does not exist")
    );
    assert_eq!(problems.len(), 4);
}

#[test]
fn malformed_json_has_a_place_and_what_came_before_is_used() {
    let folder = tree(
        &["a.c"],
        "[{\"file\": \"a.c\", \"command\": \"gcc a.c\"},\n {\"file\": ",
    );
    let (commands, problems) = read_at(folder.path(), ".");
    assert_eq!(names(&commands.unwrap()), ["a.c"]);
    assert_eq!(
        problems,
        ["compile_commands.json:2:10: error: EOF while parsing a value"]
    );

    for (text, expected) in [
        (
            "{\"a\": 1}",
            "compile_commands.json:1:0: error: invalid type: map",
        ),
        (
            "[\n  nonsense]",
            "compile_commands.json:2:4: error: expected ident",
        ),
        ("", "compile_commands.json:1:0: error: EOF"),
    ] {
        let folder = tree(&[], text);
        let problem = read_at(folder.path(), ".").0.unwrap_err().to_string();
        let problem = problem.replace(&format!("{}/", folder.path().display()), "");
        let expected = expected.replace(":0:", ":");
        assert!(problem.starts_with(&expected), "{problem}");
    }
}

#[test]
fn other_languages_are_counted() {
    let folder = tree(
        &["a.c", "b.cc", "c.S"],
        r#"[{"file": "b.cc", "command": "g++ -c b.cc"}, {"file": "c.S", "command": "gcc -c c.S"},
                {"file": "a.c", "command": "gcc -c a.c"}]"#,
    );
    let (commands, problems) = read_at(folder.path(), ".");
    assert_eq!(names(&commands.unwrap()), ["a.c"]);
    assert_eq!(
        problems,
        ["compile_commands.json: note: entries that are not C were left out: 1 .S, 1 .cc"]
    );
}

#[test]
fn only_what_lies_under_the_path_is_taken() {
    let folder = tree(
        &["net/a.c", "netfilter/b.c"],
        r#"[{"file": "net/a.c", "command": "gcc -c net/a.c"},
                {"file": "netfilter/b.c", "command": "gcc -c netfilter/b.c"}]"#,
    );
    assert_eq!(names(&read_at(folder.path(), "net").0.unwrap()), ["a.c"]);
    assert_eq!(
        names(&read_at(folder.path(), "netfilter/b.c").0.unwrap()),
        ["b.c"]
    );
}

#[test]
fn a_database_that_was_recorded_elsewhere_is_read_as_of_here() {
    let folder = tree(
        &["src/a.c", "src/b.c"],
        r#"[{"directory": "/gone/w/src", "file": "/gone/w/src/a.c",
                 "command": "gcc -I/gone/w/inc -I/gone/w -I/gone/wide -c a.c"},
                {"directory": "/gone/w/src", "file": "b.c", "arguments": ["gcc", "-c", "/gone/w/src/b.c"]}]"#,
    );
    let (commands, problems) = read_at(folder.path(), ".");
    let commands = commands.unwrap();
    assert_eq!(names(&commands), ["src/a.c", "src/b.c"]);
    let here = folder.path().display();
    let expected = [
        format!("-I{here}/inc"),
        format!("-I{here}"),
        "-I/gone/wide".to_owned(),
    ];
    let expected: Vec<OsString> = expected.into_iter().map(OsString::from).collect();
    assert_eq!(commands[0].arguments, expected);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].contains("it was recorded in /gone/w;"),
        "{problems:?}"
    );
}

#[test]
fn databases_are_sought_in_build_folders_and_above() {
    let folder = tree(
        &[
            "build-x/compile_commands.json",
            "src/deep/a.c",
            "other/compile_commands.json",
        ],
        "[]",
    );
    let found = candidates(&folder.path().join("src/deep"));
    let expected = [
        folder.path().join(FILE_NAME),
        folder.path().join("build-x").join(FILE_NAME),
    ];
    assert_eq!(&found[..2], &expected);
    assert!(
        !found
            .iter()
            .any(|file| file.starts_with(folder.path().join("other")))
    );
}
