//! Runs the real program in temporary folders: exit statuses, messages, where output goes.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use tempfile::TempDir;

use crate::tools::tree;

const DOUBLE_LOCK: &str = "\
typedef struct { int word; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

struct device { int state; spinlock_t lock; };

static void reset(struct device *dev)
{
	spin_lock(&dev->lock);
	dev->state = 0;
	spin_unlock(&dev->lock);
}

int probe(struct device *dev, int flag)
{
	spin_lock(&dev->lock);
	if (flag)
		reset(dev);
	spin_unlock(&dev->lock);
	return 0;
}

int quiet(int x)
{
	return x + 1;
}
";

fn cassini() -> Command {
    Command::cargo_bin("cassini").expect("the binary is built for this test")
}

fn check(tree: &Path) -> Command {
    let mut command = cassini();
    command.arg("check").arg(tree);
    command
}

#[test]
fn a_tree_without_units_is_an_error_not_a_clean_result() {
    let tree = tree(&[("notes.txt", "no C here")]);
    check(tree.path())
        .assert()
        .code(2)
        .stdout("")
        .stderr(predicate::str::contains("no C translation unit found"));
}

#[test]
fn a_path_that_is_not_there_is_named_once() {
    let output = check(Path::new("/no/such/tree")).assert().code(2);
    let stderr = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert_eq!(stderr.matches("/no/such/tree").count(), 1, "{stderr}");
    assert_eq!(stderr.matches("No such file").count(), 1, "{stderr}");
}

#[test]
fn no_compiler_is_said_clearly() {
    let tree = tree(&[("a.c", "int x;")]);
    check(tree.path())
        .env("PATH", "")
        .assert()
        .code(2)
        .stderr(predicate::str::contains("no C compiler found"));
}

#[test]
fn a_unit_that_does_not_preprocess_costs_itself_and_strict_mode_tells() {
    let tree = tree(&[
        ("bad.c", "#error this one is broken\n"),
        ("good.c", "int f(int x)\n{\n\treturn x;\n}\n"),
    ]);
    let entry = |file| serde_json::json!({"directory": tree.path(), "file": file, "arguments": ["cc", "-c", file]});
    let entries = serde_json::json!([entry("bad.c"), entry("good.c")]);
    fs::write(
        tree.path().join("compile_commands.json"),
        entries.to_string(),
    )
    .unwrap();
    check(tree.path())
        .assert()
        .code(0)
        .stderr(predicate::str::contains("bad.c:1").and(predicate::str::contains("broken")));
    check(tree.path()).arg("--strict").assert().code(2);
}

#[test]
fn the_steps_of_a_trace_say_how_each_condition_came_out() {
    let source = "struct mutex { int v; };\nvoid mutex_lock(struct mutex *);\nvoid mutex_unlock(struct mutex *);\n\
        int f(struct mutex *l, int a, int b, int c)\n{\n\tmutex_lock(l);\n\
        \tif (!a)\n\t\tgoto out;\n\
        \tif (!b || c == 3)\n\t\treturn 0;\n\
        out:\n\tmutex_unlock(l);\n\treturn 0;\n}\n";
    let tree = tree(&[("a.c", source)]);
    check(tree.path()).assert().code(1).stdout(
        predicate::str::contains("a.c:7: the condition is false: `if (!a)`")
            .and(predicate::str::contains(
                "a.c:9: the two ways out part here: the condition is true: `if (!b || c == 3)`",
            ))
            .and(predicate::str::contains("the condition").count(2)),
    );
}

#[test]
fn notes_are_left_out_unless_asked_for_and_counted() {
    // What `drop` gives back `grab` may have taken for it, whoever else calls that.
    let source = "struct mutex { int v; };\nvoid mutex_lock(struct mutex *);\nvoid mutex_unlock(struct mutex *);\n\
        struct queue { struct mutex lock; int length; };\n\
        static void grab(struct queue *q) { mutex_lock(&q->lock); q->length++; }\n\
        void use(struct queue *q) { grab(q); mutex_unlock(&q->lock); }\n\
        void drop(struct queue *q) { q->length--; mutex_unlock(&q->lock); }\n\
        void (*grabber)(struct queue *) = grab;\n";
    let tree = tree(&[("a.c", source)]);
    check(tree.path())
        .assert()
        .code(0)
        .stdout("")
        .stderr(predicate::str::contains(
            "0 findings; --level note shows 1 less certain",
        ));
    check(tree.path())
        .args(["--level", "note"])
        .assert()
        .code(1)
        .stdout(predicate::str::contains("a.c:7").and(predicate::str::contains("note")))
        .stderr(predicate::str::contains("1 finding\n"));
}

#[test]
fn a_database_that_cannot_be_made_names_the_way_out() {
    let tree = tree(&[("a.c", "int x;"), ("file", "not a folder")]);
    check(tree.path())
        .arg("--db")
        .arg(tree.path().join("file/db"))
        .assert()
        .code(2)
        .stderr(predicate::str::contains("--db DIR"));
}

#[test]
fn an_unknown_checker_is_an_error_that_names_the_known_ones() {
    let tree = tree(&[("a.c", "int x;")]);
    check(tree.path())
        .args(["--checkers", "locks"])
        .assert()
        .code(2)
        .stderr(predicate::str::contains(
            "there are: assert, file, heap, lock, null",
        ));
}

#[test]
fn a_malformed_row_of_a_users_file_is_reported_and_the_rest_goes_on() {
    let tree = tree(&[
        ("a.c", "int f(void)\n{\n\treturn 0;\n}\n"),
        (
            "mine.toml",
            "[[function]]\nnames = [\"grab\"]\nmachine = \"no-such-machine\"\n",
        ),
    ]);
    check(tree.path())
        .arg("--checkers")
        .arg(tree.path().join("mine.toml"))
        .assert()
        .code(0)
        .stderr(predicate::str::contains("mine.toml:"));
}

#[test]
fn queries_before_any_check_say_what_to_do() {
    let tree = tree(&[]);
    cassini()
        .current_dir(tree.path())
        .args(["query", "failures"])
        .assert()
        .code(2)
        .stderr(predicate::str::contains("run `cassini check` first"));
}

#[test]
fn what_was_not_read_is_told_by_cause_with_its_place() {
    let tree = tree(&[
        (
            "a.c",
            "int whole(int x)\n{\n\treturn x;\n}\n\nint half(void)\n{\n\treturn 1 +;\n}\n",
        ),
        ("bad.c", "#error this one is broken\n"),
    ]);
    let entry = |file| serde_json::json!({"directory": tree.path(), "file": file, "arguments": ["cc", "-c", file]});
    let entries = serde_json::json!([entry("bad.c"), entry("a.c")]);
    fs::write(
        tree.path().join("compile_commands.json"),
        entries.to_string(),
    )
    .unwrap();
    let read = "1 translation units (1 more failed), 2 declarations (1 lost), 2 function definitions, \
                2 distinct: 1 parsed (50.00 %), 1 lowered (50.00 %)";
    check(tree.path())
        .arg("--no-analysis")
        .assert()
        .code(0)
        .stdout("")
        .stderr(predicate::str::contains(read).and(predicate::str::contains("finding").not()));
    let query = cassini()
        .current_dir(tree.path())
        .args(["query", "frontend"])
        .assert()
        .code(0);
    let told = String::from_utf8_lossy(&query.get_output().stdout).into_owned();
    assert!(told.starts_with(read), "{told}");
    for expected in [
        "\n1 × preprocess: ",
        "  bad.c: (unit): preprocess: not preprocessed: #error",
        "\n1 × parse: ",
        "  a.c:6: half: parse: ",
    ] {
        assert!(told.contains(expected), "{expected} in {told}");
    }
}

#[test]
fn rules_explain_themselves() {
    cassini()
        .args(["explain", "lock/double-lock"])
        .assert()
        .code(0)
        .stdout(predicate::str::starts_with("# lock/double-lock"));
    cassini()
        .args(["explain", "lock/dubble-lock"])
        .assert()
        .code(2)
        .stderr(predicate::str::contains("there are: lock/double-lock"));
}

#[test]
fn a_double_lock_is_reported_stored_and_explained_by_summaries() {
    let tree = tree(&[("src/dev.c", DOUBLE_LOCK)]);
    check(tree.path())
        .assert()
        .code(1)
        .stdout(
            predicate::str::contains("src/dev.c:18:3: ")
                .and(predicate::str::contains("[lock/double-lock]"))
                .and(predicate::str::contains("dev->lock"))
                .and(predicate::str::contains("in reset: ")),
        )
        .stderr(predicate::str::contains(
            "3 functions: all read\n2 of them touch a lock and were analysed, 1 touch none\n\
             3 of them were analysed for accesses to memory\n1 finding\n",
        ));
    let query = |arguments: &[&str]| {
        let mut command = cassini();
        command
            .current_dir(tree.path().join("src"))
            .arg("query")
            .args(arguments);
        command.assert()
    };
    query(&["function", "dev.c::reset"])
        .code(0)
        .stdout(predicate::str::contains(
            "  dev->lock (spinlock)\n    unlocked → unlocked\n",
        ));
    query(&["function", "quiet"])
        .code(0)
        .stdout(predicate::str::contains("touches no lock"));
    query(&["function", "rest"])
        .code(2)
        .stderr(predicate::str::contains("did you mean reset?"));
    query(&["function", "spin_lock"])
        .code(0)
        .stdout(predicate::str::contains("known primitive"));
    query(&["callers", "reset"])
        .code(0)
        .stdout(predicate::str::contains("probe  dev.c:14"));
    query(&["callees", "probe"])
        .code(0)
        .stdout(predicate::str::contains(
            "spin_lock  (not defined in the tree)",
        ));
    query(&["failures"]).code(0).stdout("");
    query(&["sql", "SELECT rule, line FROM findings"])
        .code(0)
        .stdout("rule\tline\nlock/double-lock\t18\n");
    query(&["sql", "DELETE FROM findings"])
        .code(2)
        .stderr(predicate::str::contains("can only read"));
}

/// `enter` alone knows `uart->closed`; `is_open` is given the address of a first member.
const NESTED: &str = "\
typedef struct { int raw; } spinlock_t;
void spin_lock(spinlock_t *lock);
struct port { int users; int flags; spinlock_t lock; };
struct uart { int id; int closed; };
struct state { struct port port; struct uart *uart; };
static int is_open(struct port *port) { return port->flags & 4; }
static int enter(struct port *port, struct uart *uart)
{
    if (!uart || uart->closed)
        return -1;
    spin_lock(&port->lock);
    return 0;
}
void start(struct state *state)
{
    if (is_open(&state->port))
        enter(&state->port, state->uart);
    state->uart = 0;
}
";

#[test]
fn summaries_speak_of_members_that_only_callees_name() {
    let tree = tree(&[("start.c", NESTED)]);
    let read = predicate::str::contains("functions: all read");
    check(tree.path()).assert().stderr(read);
    let mut command = cassini();
    command.current_dir(tree.path());
    command.args(["query", "function", "start", "--full"]);
    let output = command.assert().code(0).get_output().stdout.clone();
    let told = String::from_utf8(output).unwrap();
    for expected in [
        "  state->port.lock (spinlock)",
        "state->port.flags & 4",
        "state->uart != NULL",
        "state->uart->closed == 0",
        "sets      state->uart = NULL",
    ] {
        assert!(told.contains(expected), "{expected} in {told}");
    }
}

#[test]
fn the_report_is_the_same_whatever_the_jobs_and_what_is_stored() {
    let tree = tree(&[("a.c", DOUBLE_LOCK), ("b.c", DOUBLE_LOCK)]);
    let report = |arguments: &[&str]| {
        let mut command = check(tree.path());
        command.args(["--format", "json", "-q"]).args(arguments);
        command
            .assert()
            .code(1)
            .stderr("")
            .get_output()
            .stdout
            .clone()
    };
    let cold = report(&["--jobs", "1"]);
    assert_eq!(report(&["--jobs", "1"]), cold, "warm");
    let other = tempfile::tempdir().unwrap();
    let database = other.path().to_str().unwrap();
    assert_eq!(
        report(&["--jobs", "8", "--db", database]),
        cold,
        "eight jobs"
    );
}

#[test]
fn an_unchanged_tree_is_not_analysed_again() {
    let tree = tree(&[("a.c", DOUBLE_LOCK)]);
    check(tree.path()).assert().code(1);
    check(tree.path())
        .arg("-v")
        .assert()
        .code(1)
        .stderr(predicate::str::contains(
            "5 function results taken from the database",
        ));
}

#[test]
fn an_unchanged_unit_is_not_preprocessed_again() {
    let text = DOUBLE_LOCK.replacen("\treset(dev)", "\tCALL(dev)", 1);
    let tree = tree(&[
        ("a.c", &format!("#include <l.h>\n{text}")),
        ("inc/l.h", "#define CALL reset\n"),
    ]);
    let command = serde_json::json!([
        {"directory": tree.path(), "file": "a.c", "command": "cc -c a.c"}
    ]);
    fs::write(
        tree.path().join("compile_commands.json"),
        command.to_string(),
    )
    .unwrap();
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("l.h"), "#define CALL(x)\n").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    let run = |code, path: &Path| {
        let statistics = tree.path().join("statistics.json");
        let mut command = check(tree.path());
        command.args(["-q", "--statistics"]).arg(&statistics);
        command.env("C_INCLUDE_PATH", path).assert().code(code);
        let text = fs::read_to_string(statistics).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        value["cpu_seconds"]["preprocess"].as_f64().unwrap()
    };
    let here = tree.path().join("inc");
    assert!(run(1, &here) > 0.0);
    assert!(run(1, &here) == 0.0, "nothing has changed");
    assert!(
        run(0, other.path()) > 0.0,
        "the environment names another header"
    );
    assert!(run(1, &here) == 0.0, "and the one from before again");
    fs::write(tree.path().join("inc/l.h"), "#define CALL(x)\n").unwrap();
    assert!(run(0, &here) > 0.0, "the header has changed");
}

#[test]
fn a_report_goes_to_the_file_that_is_named() {
    let tree = tree(&[("a.c", DOUBLE_LOCK)]);
    let file = tree.path().join("report.txt");
    check(tree.path())
        .arg("-o")
        .arg(&file)
        .assert()
        .code(1)
        .stdout("");
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains("[lock/double-lock]"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colours in a file: {text}");
    check(tree.path())
        .args(["-o", "/no/such/folder/report.txt"])
        .assert()
        .code(2)
        .stderr(predicate::str::contains(
            "cannot write /no/such/folder/report.txt",
        ));
}

#[test]
fn what_a_baseline_has_is_not_reported_again() {
    let tree = tree(&[("a.c", DOUBLE_LOCK)]);
    let baseline = tree.path().join("baseline.json");
    check(tree.path())
        .args(["--format", "json", "-o"])
        .arg(&baseline)
        .assert()
        .code(1);
    fs::write(
        tree.path().join("cassini.toml"),
        "baseline = \"baseline.json\"\n",
    )
    .unwrap();
    check(tree.path())
        .assert()
        .code(0)
        .stdout("")
        .stderr(predicate::str::contains("not counting 1 of the baseline"));
    fs::write(&baseline, "{}").unwrap();
    check(tree.path())
        .assert()
        .code(2)
        .stderr(predicate::str::contains("baseline.json is no report"));
}

/// Many functions that lock, so that a run takes a while.
fn large_tree() -> TempDir {
    let files: Vec<(String, String)> = (0..60)
        .map(|file| {
            let text = DOUBLE_LOCK.replace("probe", &format!("probe_{file}"));
            (format!("f{file}.c"), text)
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    tree(&files)
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_a_database_that_the_next_run_goes_on_from() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    let tree = large_tree();
    let program = assert_cmd::cargo::cargo_bin("cassini");
    let database = tree.path().join(".cassini/cassini.sqlite");
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        let mut child = std::process::Command::new(&program)
            .arg("check")
            .arg(tree.path())
            .args(["--jobs", "1"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // The first file appears when the run is about to begin in earnest.
        while !database.is_file() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        let _ = kill(Pid::from_raw(child.id().cast_signed()), signal);
        let status = child.wait().unwrap();
        if signal == Signal::SIGINT {
            // A fast machine is done before the signal comes.
            assert!(matches!(status.code(), Some(130 | 1)), "{status}");
        }
    }
    let report = |database: &Path| {
        let mut command = check(tree.path());
        command
            .args(["--format", "json", "-q", "--db"])
            .arg(database);
        command.assert().code(1).get_output().stdout.clone()
    };
    let scratch = tempfile::tempdir().unwrap();
    assert_eq!(
        report(&tree.path().join(".cassini")),
        report(scratch.path())
    );
}

#[test]
fn shells_and_manual_readers_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = cassini().args(["completions", shell]).assert().code(0);
        let script = String::from_utf8_lossy(&script.get_output().stdout).into_owned();
        for word in ["check", "serve", "triage", "baseline"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    cassini().args(["completions", "none"]).assert().code(2);
    let page = predicate::str::contains(".TH cassini 1").and(predicate::str::contains("serve"));
    cassini().arg("man").assert().code(0).stdout(page);
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    cassini().arg("man").arg(&pages).assert().code(0);
    for name in [
        "cassini.1",
        "cassini-check.1",
        "cassini-query-lock.1",
        "cassini-serve.1",
    ] {
        let text = fs::read_to_string(pages.join(name)).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{name}");
    }
}
