//! What makes a failure none is told with it, in every form; and of a failure that is not reported for that reason on demand.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

const PROGRAM: &str = "\
#include <pthread.h>
struct node { pthread_mutex_t lock; };
struct node *find(int id);
void again(int id)
{
    struct node *a = find(id);
    pthread_mutex_lock(&a->lock);
    struct node *b = find(id);
    pthread_mutex_unlock(&b->lock);
    pthread_mutex_lock(&a->lock);       /* line 10 */
    pthread_mutex_unlock(&a->lock);
}
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
void open_gate(void) { if (find(3)) pthread_mutex_unlock(&gate); }  /* line 14 */
void close_gate(void) { pthread_mutex_lock(&gate); }
void twice(void)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&gate);          /* line 19 */
}
";

fn cassini(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("cassini").unwrap();
    command.current_dir(folder);
    command
}

/// Line, level and kinds of explanations of each finding.
fn findings(folder: &Path, level: &str) -> Vec<(u64, String, Vec<String>)> {
    let run = cassini(folder)
        .args(["check", "a.c", "--level", level, "--format", "json"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kinds = |finding: &Value| {
        let all = finding["explanations"].as_array().unwrap().iter();
        all.map(|one| text(&one["kind"])).collect()
    };
    let all = report["findings"].as_array().unwrap().iter();
    all.map(|finding| {
        let line = finding["line"].as_u64().unwrap();
        (line, text(&finding["level"]), kinds(finding))
    })
    .collect()
}

#[test]
fn a_level_follows_from_explanations_and_each_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.c"), PROGRAM).unwrap();
    let certain = (19, "error".to_owned(), Vec::new());
    let note = (14, "note".to_owned(), vec!["other-half".to_owned()]);
    let explained = |line, kind: &str| (line, "explained".to_owned(), vec![kind.to_owned()]);
    let renamed = explained(10, "another-name");
    let left = explained(15, "left-to-callers");
    assert_eq!(
        findings(folder.path(), "warning"),
        std::slice::from_ref(&certain)
    );
    assert_eq!(
        findings(folder.path(), "note"),
        [note.clone(), certain.clone()]
    );
    assert_eq!(
        findings(folder.path(), "explained"),
        [renamed, note, left, certain]
    );
}

#[test]
fn why_tells_what_was_considered_at_a_place() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.c"), PROGRAM).unwrap();
    cassini(folder.path())
        .args(["check", "a.c", "--quiet"])
        .assert()
        .code(1);
    let why = |place: &str| {
        cassini(folder.path())
            .args(["query", "why", place])
            .assert()
    };
    // At the failure, and on the way to it.
    for place in ["a.c:10", "./a.c:7"] {
        why(place)
            .success()
            .stdout(contains("a.c:10:5: explained:").and(contains(
                "not a bug if `a->lock` is operated on under another name",
            )));
    }
    // What callers are left to do, and who does it.
    why("a.c:15").success().stdout(contains(
        "not a bug if `open_gate` has the other half of what is done to `gate`",
    ));
    why("a.c:11")
        .success()
        .stdout(contains("nothing was found here").and(contains("again (a.c:4), was analysed")));
    why("a.c:2")
        .success()
        .stdout(contains("no function before this line"));
    why("a.c")
        .failure()
        .stderr(contains("`a.c` is no FILE:LINE"));
}

#[test]
fn explain_has_a_page_for_each_kind() {
    let folder = tempfile::tempdir().unwrap();
    cassini(folder.path())
        .args(["explain", "another-name"])
        .assert()
        .success()
        .stdout(predicate::str::starts_with("# another-name\n"));
}
