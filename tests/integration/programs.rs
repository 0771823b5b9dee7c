//! Several programs in one tree, from end to end: what a call means is what is linked with it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

const LOCK: &str = "typedef struct { int v; } spinlock_t;\n\
    void spin_lock(spinlock_t *lock);\n\
    void spin_unlock(spinlock_t *lock);\n\
    struct pool { spinlock_t lock; int count; };\n";

/// Takes the lock itself: whoever holds it and calls this waits for ever.
const TAKES: &str =
    "void take(struct pool *p) { spin_lock(&p->lock); p->count++; spin_unlock(&p->lock); }\n";
/// Does not.
const LEAVES: &str = "void take(struct pool *p) { p->count++; }\n";
/// Holds the lock and calls.
const CALLS: &str = "void take(struct pool *p);\n\
    void step(struct pool *p)\n{\n\tspin_lock(&p->lock);\n\ttake(p);\n\tspin_unlock(&p->lock);\n}\n";
const MAIN: &str = "void step(struct pool *p);\nstatic struct pool pool;\nint main(void) { step(&pool); return 0; }\n";

/// A tree with these files, recorded as compiled each to the object of its name, and links.
fn tree(files: &[(&str, &str)], links: &[Value]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut entries = Vec::new();
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, format!("{LOCK}{text}")).unwrap();
        entries.push(json!({
            "directory": folder.path(),
            "file": name,
            "arguments": ["cc", "-c", name],
            "output": Path::new(name).with_extension("o"),
        }));
    }
    let mut links = links.to_vec();
    for link in &mut links {
        let place = |name: &Value| json!(folder.path().join(name.as_str().unwrap()));
        let inputs = link["inputs"].as_array().unwrap();
        let (inputs, output) = (inputs.iter().map(place).collect(), place(&link["output"]));
        link["inputs"] = inputs;
        link["output"] = output;
    }
    let write = |name: &str, value: Value| {
        fs::write(folder.path().join(name), value.to_string()).unwrap();
    };
    write("compile_commands.json", Value::Array(entries));
    if !links.is_empty() {
        write("compile_commands.links.json", Value::Array(links));
    }
    folder
}

fn link(kind: &str, output: &str, inputs: &[&str]) -> Value {
    json!({"kind": kind, "output": output, "inputs": inputs})
}

fn cassini(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = assert_cmd::Command::cargo_bin("cassini")
        .unwrap()
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert!(matches!(output.status.code(), Some(0 | 1)), "{stderr}");
    (stdout, stderr)
}

/// The functions with findings, and in which programs those are if not in all.
fn findings(folder: &Path) -> Vec<(String, Vec<String>)> {
    let (stdout, _) = cassini(folder, &["check", "--format", "json", "--no-progress", "."]);
    let report: Value = serde_json::from_str(&stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let found = findings.map(|finding| {
        let programs = finding["programs"].as_array().cloned().unwrap_or_default();
        let programs = programs
            .iter()
            .map(|name| name.as_str().unwrap().to_owned());
        let function = finding["function"].as_str().unwrap();
        (function.to_owned(), programs.collect())
    });
    found.collect()
}

fn step(programs: &[&str]) -> (String, Vec<String>) {
    let programs = programs.iter().map(|name| (*name).to_owned()).collect();
    ("step".to_owned(), programs)
}

#[test]
fn of_two_archives_the_first_that_is_asked_gives_the_definition() {
    let files = [
        ("main.c", MAIN),
        ("step.c", CALLS),
        ("a.c", LEAVES),
        ("b.c", TAKES),
    ];
    let archives = [
        link("archive", "libstep.a", &["step.o"]),
        link("archive", "liba.a", &["a.o"]),
        link("archive", "libb.a", &["b.o"]),
    ];
    let linked = |order: &[&str]| {
        let mut links = archives.to_vec();
        links.push(link("program", "prog", order));
        findings(tree(&files, &links).path())
    };
    assert_eq!(
        linked(&["main.o", "libstep.a", "libb.a", "liba.a"]),
        [step(&[])]
    );
    assert_eq!(linked(&["main.o", "libstep.a", "liba.a", "libb.a"]), []);
    // Nobody asks for anything when the archive is read; it is read again, as in a group.
    assert_eq!(linked(&["libb.a", "main.o", "libstep.a"]), [step(&[])]);
}

#[test]
fn a_weak_definition_is_meant_where_no_other_is_linked() {
    let weak = format!(
        "__attribute__((weak)) {LEAVES}{}",
        CALLS.replacen("void take", "extern void take", 1)
    );
    let files = [
        ("step.c", weak.as_str()),
        ("plain.c", MAIN),
        ("own.c", MAIN),
        ("take.c", TAKES),
    ];
    let links = [
        link("program", "plain", &["plain.o", "step.o"]),
        link("program", "own", &["own.o", "step.o", "take.o"]),
    ];
    assert_eq!(findings(tree(&files, &links).path()), [step(&["own"])]);
    assert_eq!(findings(tree(&files, &links[..1]).path()), []);
}

#[test]
fn a_programs_definition_goes_before_its_librarys() {
    let files = [
        ("lib/step.c", CALLS),
        ("lib/take.c", LEAVES),
        ("one/main.c", MAIN),
        ("two/main.c", MAIN),
        ("two/take.c", TAKES),
    ];
    let links = [
        link("shared", "libpool.so.1", &["lib/step.o", "lib/take.o"]),
        link("program", "bin/one", &["one/main.o", "libpool.so"]),
        link(
            "program",
            "bin/two",
            &["two/main.o", "two/take.o", "libpool.so"],
        ),
    ];
    let folder = tree(&files, &links);
    assert_eq!(findings(folder.path()), [step(&["bin/two"])]);
    // The same from what is stored.
    assert_eq!(findings(folder.path()), [step(&["bin/two"])]);

    let (text, ledger) = cassini(folder.path(), &["check", "--no-progress", "."]);
    assert!(text.contains("only in the program bin/two"), "{text}");
    assert!(ledger.contains("5 functions: "), "{ledger}");
    assert!(
        ledger.contains("; 1 of them looked at once for each"),
        "{ledger}"
    );
    let (summary, _) = cassini(folder.path(), &["query", "function", "step"]);
    assert_eq!(summary.matches("lib/step.c:6").count(), 2, "{summary}");
    assert!(summary.contains("in bin/two"), "{summary}");
    // All variants of a function are one to who asks for its callers.
    let (callers, _) = cassini(folder.path(), &["query", "callers", "step"]);
    assert_eq!(callers.lines().count(), 2, "{callers}");
}

#[test]
fn a_relocatable_objects_units_are_linked_with_it() {
    let files = [
        ("main.c", MAIN),
        ("step.c", CALLS),
        ("x/take.c", LEAVES),
        ("y/take.c", TAKES),
    ];
    let links = [
        link("relocatable", "all.o", &["step.o", "y/take.o"]),
        link("program", "prog", &["main.o", "all.o"]),
    ];
    assert_eq!(findings(tree(&files, &links).path()), [step(&[])]);
}

#[test]
fn without_a_record_each_main_is_a_program() {
    let files = [
        ("lib/step.c", CALLS),
        ("a/main.c", MAIN),
        ("a/take.c", LEAVES),
        ("b/main.c", MAIN),
        ("b/take.c", TAKES),
    ];
    let caller = format!("{MAIN}void take(struct pool *p);\nvoid other(void) {{ take(&pool); }}\n");
    let mut files = files.to_vec();
    files[1].1 = &caller;
    files[3].1 = &caller;
    let folder = tree(&files, &[]);
    assert_eq!(findings(folder.path()), [step(&["b/main.c"])]);
    let (_, told) = cassini(folder.path(), &["query", "failures"]);
    assert_eq!(told, "");
}

#[test]
fn what_nothing_tells_is_said() {
    let files = [
        ("lib/step.c", CALLS),
        ("x/take.c", TAKES),
        ("y/take.c", LEAVES),
    ];
    let folder = tree(&files, &[]);
    assert_eq!(findings(folder.path()), [step(&[])]);
    let said = "nothing tells which `take` is linked with lib/step.c; x/take.c:5 was taken, \
                y/take.c:5 lies as near";
    let (failures, _) = cassini(folder.path(), &["query", "failures"]);
    assert!(failures.contains(said), "{failures}");
    let (_, notices) = cassini(folder.path(), &["check", "-v", "--no-progress", "."]);
    assert!(notices.contains(said), "{notices}");
}

#[test]
fn what_is_wrong_in_a_file_that_is_compiled_twice_is_told_once_though_its_functions_have_other_names()
 {
    let folder = tempfile::tempdir().unwrap();
    let text = "#include <stdlib.h>\n\
        #ifdef PIC\n#define copy copy__internal\n#define take take__internal\n#endif\n\
        char *take(int n) { char *p = malloc(10); if (p) p[0] = n; return p; }\n\
        int copy(int n)\n{\n\tchar *p = take(n);\n\tif (!p)\n\t\treturn -1;\n\tif (n > 3)\n\t\treturn 1;\n\tfree(p);\n\treturn 0;\n}\n";
    fs::write(folder.path().join("a.c"), text).unwrap();
    let unit = |output: &str, more: &[&str]| {
        let arguments = [&["cc", "-c", "a.c"], more].concat();
        json!({"directory": folder.path(), "file": "a.c", "arguments": arguments, "output": output})
    };
    let commands = json!([unit("a.o", &[]), unit(".libs/a.o", &["-DPIC"])]);
    fs::write(
        folder.path().join("compile_commands.json"),
        commands.to_string(),
    )
    .unwrap();
    let (stdout, stderr) = cassini(folder.path(), &["check", "--checkers", "heap"]);
    assert!(stderr.contains("2 translation units"), "{stderr}");
    assert_eq!(stdout.matches("[heap/leak]").count(), 1, "{stdout}");
    assert!(!stdout.contains("take__internal"), "{stdout}");
}

/// The functions with findings about null.
fn null_findings(folder: &TempDir) -> String {
    let (stdout, _) = cassini(
        folder.path(),
        &["check", "--checkers", "null", "--no-progress", "."],
    );
    stdout
}

#[test]
fn a_function_is_linked_by_the_other_name_that_an_attribute_gives_it() {
    let files = [
        ("none.c", "int *get_setting(void) { return 0; }\n"),
        (
            "setting.c",
            "static int setting;\nint *own_setting(void) { return &setting; }\n\
             int *get_setting(void) __attribute__((alias(\"own_setting\")));\n",
        ),
        (
            "main.c",
            "int *get_setting(void);\nint main(void) { return *get_setting(); }\n",
        ),
    ];
    let with = |setting: &str| tree(&files, &[link("program", "prog", &["main.o", setting])]);
    assert_eq!(null_findings(&with("setting.o")), "");
    let failing = null_findings(&with("none.o"));
    assert_eq!(
        failing.matches("[null/dereference]").count(),
        1,
        "{failing}"
    );
}

#[test]
fn a_test_that_no_caller_needs_is_no_failure_where_programs_alone_are_linked_of_it() {
    let files = [
        (
            "show.c",
            "void say(const char *text);\nstruct item { int count; };\n\
             int show(struct item *item) { if (!item) say(\"none\"); return item->count; }\n",
        ),
        (
            "main.c",
            "struct item { int count; };\nint show(struct item *item);\nstatic struct item one;\n\
             int main(void) { return show(&one); }\n",
        ),
    ];
    let program = link("program", "prog", &["main.o", "show.o"]);
    assert_eq!(
        null_findings(&tree(&files, std::slice::from_ref(&program))),
        ""
    );
    let links = [program, link("archive", "libshow.a", &["show.o"])];
    let shared = null_findings(&tree(&files, &links));
    assert_eq!(shared.matches("[null/dereference]").count(), 1, "{shared}");
}
