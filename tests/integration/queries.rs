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
fn a_check_of_locks_alone_keeps_nothing_of_an_earlier_one_of_memory() {
    let tree = checked();
    let here = tree.path();
    let outcomes = "SELECT count(*) AS n FROM functions WHERE access_outcome IS NOT NULL";
    let number = || rows(here, &["sql", outcomes])[0]["n"].as_i64().unwrap();
    assert!(number() > 0);
    cassini(here, &["check", ".", "-q", "--checkers", "lock"]).code(0);
    assert_eq!(number(), 0);
    cassini(here, &["check", ".", "-q"]).code(0);
    assert!(number() > 0);
}

#[test]
fn all_answers_have_three_formats() {
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
    let said = |arguments: &[&str]| -> Vec<String> {
        let of = |row: &Value| format!("{} {}", row["what"], row["text"]).replace('"', "");
        rows(here, arguments).iter().map(of).collect()
    };
    let add = said(&["function", "queue_add"]);
    for expected in [
        "outcome analysed",
        "becomes q->lock",
        "sets q->length = q->length + 1",
        "called by port_send",
        "calls queue_grow",
    ] {
        assert!(add.contains(&expected.to_owned()), "{expected} in {add:?}");
    }
    assert_eq!(rows(here, &["why", "queue.c:12"]), Vec::<Value>::new());
    let spec = rows(here, &["spec", "queue_grow"]);
    assert_eq!(spec[0]["function"], "queue_grow", "{spec:?}");
    assert_eq!(spec[0]["filter"], "conc", "{spec:?}");
}

/// What becomes of memory, in one line for each place.
const MEMORY: &str = "\
void *malloc(unsigned long size);
void free(void *block);
struct part { char *text; struct part *next; };
struct whole { int length; struct part first; char *name; };
struct whole *whole_new(int length)
{
	struct whole *w = malloc(sizeof *w);
	if (!w)
		return 0;
	w->length = length;
	return w;
}
void whole_drop(struct whole *w)
{
	if (w->length > 0)
		free(w->first.text);
	free(w->name);
	free(w);
}
char whole_first(struct whole *w)
{
	free(w->name);
	return w->name[0];
}
int main(void) { struct whole *w = whole_new(3); if (w) { whole_first(w); whole_drop(w); } return 0; }
";

#[test]
fn a_function_is_told_in_words_of_its_source() {
    let tree = tempfile::tempdir().unwrap();
    let here = tree.path();
    fs::write(here.join("whole.c"), MEMORY).unwrap();
    cassini(here, &["check", ".", "-q"]).code(1);
    let told = |name: &str| text(query(here, &["function", name]));
    assert_eq!(
        told("whole_drop"),
        "whole_drop  whole.c:13\n  freed     w\n            w->first.text if w->length > 0\n            w->name\n  \
         called by main\n  calls     free\n"
    );
    let new = told("whole_new");
    assert!(new.contains("  allocated ret\n"), "{new}");
    let first = told("whole_first");
    let finding = "  findings  error: `w->name` is used after it was freed [heap/use-after-free] whole.c:23\n";
    assert!(first.contains(finding), "{first}");
    // All states, on demand.
    let full = text(query(here, &["function", "whole_drop", "--full"]));
    assert!(full.contains("allocated            → freed"), "{full}");
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

/// Two that keep a spin lock when they fail, in ways that callers may know or not, and two that never do.
const FAILING: &str = "\
typedef struct { int word; } spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
struct device { spinlock_t lock; int ready; };
int start(struct device *d)
{
	spin_lock(&d->lock);
	if (!d->ready)
		return -19;
	spin_unlock(&d->lock);
	return 0;
}
int begin(struct device *d)
{
	spin_lock(&d->lock);
	if (d->ready)
		return 0;
	spin_unlock(&d->lock);
	return -16;
}
int look(struct device *d)
{
	int ready;
	spin_lock(&d->lock);
	ready = d->ready;
	spin_unlock(&d->lock);
	return ready ? 0 : -19;
}
void hold(struct device *d) { spin_lock(&d->lock); look(d); }
";

#[test]
fn sql_tells_which_functions_return_with_a_spin_lock_held_when_they_fail() {
    let tree = tempfile::tempdir().unwrap();
    let here = tree.path();
    fs::write(here.join("device.c"), FAILING).unwrap();
    cassini(here, &["check", ".", "-q"]);
    let question = "SELECT DISTINCT function, file, line, object FROM function_transitions
        WHERE kind = 'spinlock' AND after LIKE 'locked%' AND before NOT LIKE 'locked%' AND fails = 1 ORDER BY function";
    let asked = rows(here, &["sql", question]);
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0]["function"], "start");
    assert_eq!(asked[0]["object"], "d->lock");
    let succeeding = question.replace("fails = 1", "fails = 0");
    assert_eq!(rows(here, &["sql", &succeeding])[0]["function"], "begin");
    let steps = "SELECT f.rule, s.number, s.file, s.message FROM findings f JOIN finding_steps s USING (fingerprint)
        WHERE f.function = 'start' ORDER BY s.number";
    let steps = rows(here, &["sql", steps]);
    assert_eq!(
        (&steps[0]["number"], &steps[0]["file"]),
        (&Value::from(1), &Value::from("device.c"))
    );
    for (view, some) in [
        (
            "function_locks WHERE act = 'may lock' AND class = 'struct device.lock'",
            true,
        ),
        (
            "requirements WHERE function = 'look' AND needs = 'needs free'",
            true,
        ),
        (
            "lock_classes WHERE class = 'struct device.lock' AND functions > 1",
            true,
        ),
        (
            "function_calls WHERE caller = 'hold' AND callee = 'look'",
            true,
        ),
        ("lock_orders", false),
        ("finding_explanations WHERE kind = 'none'", false),
        ("verdicts", false),
    ] {
        let found = rows(here, &["sql", &format!("SELECT * FROM {view}")]);
        assert_eq!(!found.is_empty(), some, "{view}: {found:?}");
    }
}
