//! A machine that no built-in one resembles, written in a property file alone: transactions, which are not locks, may fail, and
//! may be thrown away.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

const MACHINE: &str = r#"
name = "transaction"

[[machine]]
name = "transaction"
states = [
  { name = "idle", role = "free" },
  { name = "open", role = "held" },
  { name = "failed", role = "held", text = "to be rolled back" },
  { name = "gone", role = "dead" },
]
rules = [
  { event = "exits-differ", id = "transaction/forgotten" },
  { event = "exit", when = ["open", "failed"], id = "transaction/forgotten" },
]

[machine.operations]
begin    = { idle = "open", open = "error transaction/nested", failed = "error transaction/nested", gone = "error transaction/gone" }
commit   = { idle = "error transaction/none", open = "idle", failed = "error transaction/failed", gone = "error transaction/gone" }
rollback = { idle = "error transaction/none", open = "idle", failed = "idle", gone = "error transaction/gone" }
break    = { idle = "error transaction/none", open = "failed", failed = "failed", gone = "error transaction/gone" }
abandon  = { idle = "gone", open = "gone", failed = "gone", gone = "gone" }

[[rule]]
id = "transaction/forgotten"
level = "warning"
message = "`{object}` is left {state}"
explanation = "A transaction ends."

[[rule]]
id = "transaction/nested"
level = "error"
message = "`{object}` is begun, but it is {state}"
explanation = "Transactions do not nest."

[[rule]]
id = "transaction/none"
level = "error"
message = "`{object}` is ended, but it is {state}"
explanation = "There is no transaction."

[[rule]]
id = "transaction/failed"
level = "error"
message = "`{object}` is committed, but it is {state}"
explanation = "A transaction that has failed is rolled back."

[[rule]]
id = "transaction/gone"
level = "error"
message = "`{object}` is used, but it is {state}"
explanation = "It was thrown away."

[[function]]
names = ["txn_begin"]
object = "*param0"
machine = "transaction"
operation = "begin"
when = "ret == 0"

[[function]]
names = ["txn_commit"]
object = "*param0"
machine = "transaction"
operation = "commit"

[[function]]
names = ["txn_rollback"]
object = "*param0"
machine = "transaction"
operation = "rollback"

[[function]]
names = ["txn_break"]
object = "*param0"
machine = "transaction"
operation = "break"

[[function]]
names = ["txn_abandon"]
object = "*param0"
machine = "transaction"
operation = "abandon"
"#;

const PROGRAM: &str = r#"
struct txn { int id; };
int txn_begin(struct txn *t);
void txn_commit(struct txn *t);
void txn_rollback(struct txn *t);
void txn_break(struct txn *t);
void txn_abandon(struct txn *t);
int txn_write(int value);

int good(struct txn *t, int value)
{
    if (txn_begin(t) != 0)
        return -1;
    if (txn_write(value) < 0) {
        txn_break(t);
        txn_rollback(t);
        return -1;
    }
    txn_commit(t);
    return 0;
}

int thrown_away(struct txn *t, int value)
{
    if (txn_begin(t) != 0)
        return -1;
    if (txn_write(value) < 0) {
        txn_abandon(t);
        return -1;
    }
    txn_commit(t);
    return 0;
}

int forgets(struct txn *t, int value)
{
    if (txn_begin(t) != 0)
        return -1;
    if (txn_write(value) < 0)
        return -1;              /* forgotten */
    txn_commit(t);
    return 0;
}

void commits_what_failed(struct txn *t)
{
    if (txn_begin(t) != 0)
        return;
    txn_break(t);
    txn_commit(t);              /* failed */
}

void nests(struct txn *t)
{
    if (txn_begin(t) != 0)
        return;
    if (txn_begin(t) == 0)      /* nested */
        txn_commit(t);
    txn_commit(t);
}

static void drop(struct txn *t)
{
    txn_abandon(t);
}

void uses_what_is_gone(struct txn *t)
{
    drop(t);
    txn_commit(t);              /* gone */
}
"#;

/// The rule and the line of each finding.
fn check(folder: &Path) -> Vec<(String, u64)> {
    let mut command = Command::cargo_bin("cassini").unwrap();
    let run = command
        .current_dir(folder)
        .args(["check", "a.c", "--checkers", "transaction,transaction.toml"])
        .args(["--format", "json", "--quiet"])
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&run.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&run.stderr)));
    let findings = report["findings"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    findings
        .map(|finding| (text(&finding["rule"]), finding["line"].as_u64().unwrap()))
        .collect()
}

#[test]
fn a_machine_of_a_file_alone_finds_its_bugs_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.c"), PROGRAM).unwrap();
    fs::write(folder.path().join("transaction.toml"), MACHINE).unwrap();
    let rules = ["forgotten", "failed", "nested", "gone"];
    let lines = (1..).zip(PROGRAM.lines());
    let expected: Vec<(String, u64)> = lines
        .filter_map(|(line, text)| {
            let rule = rules
                .iter()
                .find(|rule| text.contains(&format!("/* {rule} */")))?;
            Some((format!("transaction/{rule}"), line))
        })
        .collect();
    assert_eq!(expected.len(), 4);
    assert_eq!(check(folder.path()), expected);
}
