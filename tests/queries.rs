//! Runs the real program: what `cassini query` answers about calls and locks, how it takes names, and in which formats.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;

const LOCKS: &str = "\
struct mutex { int word; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct queue { struct mutex lock; int length; };
struct port { struct mutex gate; struct queue *queue; };
";

const QUEUE: &str = "\
void queue_lock(struct queue *q) { mutex_lock(&q->lock); }
void queue_unlock(struct queue *q) { mutex_unlock(&q->lock); }
struct mutex count; void queue_grow(struct queue *q) { mutex_lock(&count); q->length++; mutex_unlock(&count); }
void queue_add(struct queue *q)
{
	queue_lock(q);
	queue_grow(q);
	queue_unlock(q);
}
void port_send(struct port *port)
{
	mutex_lock(&port->gate);
	queue_add(port->queue);
	mutex_unlock(&port->gate);
}
void start(struct port *port) { port_send(port); }
";

fn checked() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("queue.c"), format!("{LOCKS}{QUEUE}")).unwrap();
    let other = "static int queue_twin(int x) { return x; }\nint start_again(int x) { return queue_twin(x); }\n";
    fs::write(folder.path().join("other.c"), other).unwrap();
    cassini(folder.path(), &["check", ".", "-q"]).code(0);
    folder
}

fn cassini(folder: &Path, arguments: &[&str]) -> Assert {
    let mut command = Command::cargo_bin("cassini").expect("the binary is built for this test");
    command.current_dir(folder).args(arguments).assert()
}

fn query(folder: &Path, arguments: &[&str]) -> Assert {
    cassini(folder, &[&["query"], arguments].concat())
}

fn text(assert: Assert) -> String {
    String::from_utf8(assert.code(0).get_output().stdout.clone()).unwrap()
}

fn rows(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let told = text(query(folder, &[arguments, &["--format", "json"]].concat()));
    let told: Value = serde_json::from_str(&told).unwrap();
    told.as_array().unwrap().clone()
}

#[test]
fn calls_are_a_tree_that_tells_what_is_held() {
    let tree = checked();
    let here = tree.path();
    assert_eq!(
        text(query(here, &["callers", "queue_grow", "--depth", "9"])),
        "  queue_add  queue.c:9  holding struct queue.lock\n    port_send  queue.c:15  holding struct port.gate\n      \
         start  queue.c:21\n"
    );
    assert_eq!(
        text(query(here, &["callers", "queue_grow"]))
            .lines()
            .count(),
        1
    );
    let below = text(query(here, &["callees", "start", "--depth", "3"]));
    assert!(
        below.contains("\n    mutex_lock  (not defined in the tree)\n"),
        "{below}"
    );
    let undefined = text(query(here, &["callers", "mutex_lock", "--depth", "2"]));
    let first = "  port_send  queue.c:15\n    start  queue.c:21\n  queue_grow  queue.c:8\n    queue_add  queue.c:9  holding struct queue.lock\n";
    assert!(undefined.starts_with(first), "{undefined}");
    let found = rows(here, &["callers", "queue_grow", "--depth", "2"]);
    assert_eq!(
        (&found[1]["function"], &found[1]["depth"]),
        (&"port_send".into(), &2.into())
    );
}

#[test]
fn a_chain_of_calls_and_what_is_held_on_entry_are_found() {
    let tree = checked();
    let here = tree.path();
    assert_eq!(
        text(query(here, &["path", "start", "mutex_unlock"]))
            .lines()
            .map(|l| l.split("  ").find(|w| !w.is_empty()).unwrap())
            .collect::<Vec<_>>(),
        ["start", "port_send", "mutex_unlock"]
    );
    query(here, &["path", "queue_grow", "start"])
        .code(2)
        .stderr(contains("no chain of calls"));
    let held = rows(here, &["holds", "queue_grow"]);
    let of = |row: &Value| {
        let text = |name: &str| row[name].as_str().unwrap().to_owned();
        (text("lock"), text("held by"), text("calls"))
    };
    let held: Vec<_> = held.iter().map(of).collect();
    let row =
        |lock: &str, by: &str, calls: &str| (lock.to_owned(), by.to_owned(), calls.to_owned());
    assert_eq!(
        held,
        [
            row(
                "struct port.gate",
                "port_send",
                "port_send > queue_add > queue_grow"
            ),
            row("struct queue.lock", "queue_add", "queue_add > queue_grow"),
        ]
    );
    assert_eq!(text(query(here, &["holds", "start"])), "");
}

#[test]
fn locks_have_their_users() {
    let tree = checked();
    let here = tree.path();
    let acts = |arguments: &[&str]| {
        let of = |row: &Value| {
            let text = |name: &str| row[name].as_str().unwrap().to_owned();
            format!("{} {}", text("function"), text("act"))
        };
        rows(here, arguments).iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(
        acts(&["wrappers"]),
        ["queue_lock locks", "queue_unlock unlocks"]
    );
    let requires = acts(&["requires"]);
    assert!(
        requires.contains(&"queue_unlock needs held".to_owned()),
        "{requires:?}"
    );
    let users = acts(&["lock", "struct queue.lock"]);
    for expected in [
        "queue_add uses",
        "queue_lock locks",
        "queue_unlock needs held",
    ] {
        assert!(
            users.contains(&expected.to_owned()),
            "{expected} in {users:?}"
        );
    }
    assert_eq!(acts(&["lock", "struct *.lock"]), users);
    query(here, &["lock", "nothing"])
        .code(2)
        .stderr(contains("saw no lock `nothing`"));
}

#[test]
fn names_complete_and_several_are_listed() {
    let tree = checked();
    let here = tree.path();
    // A part that one function has.
    query(here, &["callers", "_grow"])
        .code(0)
        .stdout(contains("queue_add"));
    query(here, &["callees", "other.c::start"])
        .code(0)
        .stdout(contains("queue_twin"));
    query(here, &["callees", "start*"])
        .code(0)
        .stdout(contains("queue_twin").and(contains("port_send")));
    query(here, &["callers", "queue_"]).code(2).stderr(
        contains("these have it in their names: queue_add (queue.c:9), queue_grow (queue.c:8)")
            .and(contains("queue_twin (other.c:1)")),
    );
    query(here, &["callers", "queue_glow"])
        .code(2)
        .stderr(contains("did you mean queue_grow"));
    query(here, &["function", "queue_*"])
        .code(0)
        .stdout(contains("queue_add").and(contains("queue_twin")));
}

#[test]
fn tables_have_three_formats_and_text_has_one() {
    let tree = checked();
    let here = tree.path();
    let csv = |arguments: &[&str]| text(query(here, &[arguments, &["--format", "csv"]].concat()));
    assert!(csv(&["wrappers"]).starts_with("act,lock,class,kind,function,file,line\nlocks,q->lock,struct queue.lock,mutex,queue_lock,queue.c,6\n"));
    assert!(csv(&["stats"]).starts_with("functions that,count\n"));
    assert_eq!(csv(&["failures"]), "stage,file,line,name,message\n");
    assert_eq!(
        csv(&["sql", "SELECT 1 AS one, 'a,b' AS two, NULL AS three"]),
        "one,two,three\n1,\"a,b\",\n"
    );
    let found = rows(
        here,
        &[
            "sql",
            "SELECT name, line FROM functions WHERE name = 'start'",
        ],
    );
    assert_eq!(
        (&found[0]["name"], &found[0]["line"]),
        (&"start".into(), &21.into())
    );
    query(here, &["function", "start", "--format", "json"])
        .code(2)
        .stderr(contains("text only"));
}

#[test]
fn sql_reads_and_does_nothing_else() {
    let tree = checked();
    let here = tree.path();
    let other = here.join("other.sqlite");
    let attach = format!("ATTACH '{}' AS other", other.display());
    for statement in [
        "DELETE FROM findings",
        "UPDATE functions SET name = 'x'",
        "CREATE TABLE t (a)",
        "CREATE TEMP TABLE t (a)",
        "PRAGMA user_version = 3",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA writable_schema = 1",
        "VACUUM INTO 'copy.sqlite'",
        "SELECT load_extension('x')",
        "BEGIN",
        attach.as_str(),
    ] {
        query(here, &["sql", statement]).code(2).stdout("");
    }
    assert!(!other.exists() && !here.join("copy.sqlite").exists());
    query(here, &["sql", "SELECT count(*) FROM functions"])
        .code(0)
        .stdout("count(*)\n8\n");
    query(
        here,
        &[
            "sql",
            "SELECT name FROM pragma_table_info('verdicts') LIMIT 1",
        ],
    )
    .code(0)
    .stdout("name\nfingerprint\n");
}
