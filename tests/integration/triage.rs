//! Runs the real program: verdicts that stay with their findings, and comments in the source that silence one.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;

const HEAD: &str = "\
void *malloc(unsigned long size);
struct item { int key; struct item *next; };
extern struct item *first, *second;
";

/// Two alike findings in one function, and one of another function.
const BODY: &str = "\
static void twice(int again)
{
	struct item *item;

	item = malloc(sizeof(*item));
	item->key = again;
	first = item;
	item = malloc(sizeof(*item));
	item->key = again;
	second = item;
}

void once(struct item *list)
{
	struct item *item = malloc(sizeof(*item));

	item->next = list;
	second = item;
}
void (*used)(int) = twice;
";

/// The same, written otherwise.
const REFORMATTED: &str = "\
static void twice( int again ) {
  struct item *item;
  item = malloc(sizeof(*item)); item->key = again; first = item;
  item = malloc(
    sizeof(*item)
  );
  item
    ->key = again; second = item;
}
void once(struct item *list) { struct item *item = malloc(sizeof(*item));
  item->next = list; second = item; }
void (*used)(int) = twice;
";

/// The checkers that find it.
const CHECKERS: &str = "checkers = [\"lock\", \"null\"]\n";

fn tree(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.c"), text).unwrap();
    fs::write(folder.path().join("cassini.toml"), CHECKERS).unwrap();
    folder
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("cassini").expect("the binary is built for this test");
    command.current_dir(folder).args(arguments);
    command
}

fn cassini(folder: &Path, arguments: &[&str]) -> Assert {
    command(folder, arguments).assert()
}

fn stdout(assert: Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

fn json(assert: Assert) -> Value {
    serde_json::from_str(&stdout(assert)).unwrap()
}

/// The list of findings, by place.
fn list(folder: &Path) -> Vec<Value> {
    let arguments = ["triage", "list", "--by", "file", "--format", "json"];
    let listed = json(cassini(folder, &arguments).code(0));
    listed.as_array().unwrap().clone()
}

fn column(folder: &Path, name: &str) -> Vec<String> {
    let of = |row: &Value| row[name].as_str().unwrap().to_owned();
    list(folder).iter().map(of).collect()
}

#[test]
fn verdicts_survive_edits_renames_reformatting_and_runs() {
    let tree = tree(&format!("{HEAD}{BODY}"));
    let here = tree.path();
    cassini(here, &["check", "."])
        .code(1)
        .stderr(contains("3 findings\n"));
    let ids = column(here, "id");
    assert_eq!(ids.len(), 3, "{ids:?}");
    let set = |id: &str, verdict: &str, note: &str| {
        cassini(here, &["triage", "set", id, verdict, "--note", note]).code(0);
    };
    set(&ids[1], "false-positive", "a note");
    set(&ids[2], "bug", "");
    let judged = ["open", "false-positive", "bug"];
    assert_eq!(column(here, "verdict"), judged);

    let kept = |what: &str| {
        cassini(here, &["check", "."])
            .code(1)
            .stderr(contains("2 findings; 1 left out by verdicts\n"))
            .stdout(contains("judged: bug").and(contains("a note").not()));
        assert_eq!(column(here, "verdict"), judged, "{what}");
        assert_eq!(column(here, "note"), ["", "a note", ""], "{what}");
    };
    kept("another run");
    let file = here.join("a.c");
    let above: String = (0..30).map(|n| format!("int above_{n};\n")).collect();
    fs::write(&file, format!("{HEAD}{above}{BODY}")).unwrap();
    kept("30 lines above");
    fs::write(&file, format!("{HEAD}{REFORMATTED}")).unwrap();
    kept("reformatted");
    fs::rename(&file, here.join("renamed.c")).unwrap();
    kept("renamed");
    // A new file of the old name takes nothing back.
    fs::write(&file, "int nothing;\n").unwrap();
    kept("the old name again");
    fs::create_dir(here.join("deep")).unwrap();
    fs::rename(here.join("renamed.c"), here.join("deep/renamed.c")).unwrap();
    kept("moved");

    // Where one of two alike findings is mended, nobody has judged the one that is left.
    let text = format!("{HEAD}{}", BODY.replacen("\titem->key = again;\n", "", 1));
    fs::write(here.join("deep/renamed.c"), text).unwrap();
    cassini(here, &["check", "."])
        .code(1)
        .stderr(contains("2 findings\n"));
    assert_eq!(column(here, "verdict"), ["open", "bug"]);
}

#[test]
fn a_verdict_needs_one_finding_and_can_be_taken_back() {
    let tree = tree(&format!("{HEAD}{BODY}"));
    let here = tree.path();
    cassini(here, &["triage", "list"])
        .code(2)
        .stderr(contains("run `cassini check` first"));
    cassini(here, &["check", "."]).code(1);
    let ids = column(here, "id");
    // The alike ones are told apart at their ends.
    cassini(here, &["triage", "set", &ids[0][..16], "bug"])
        .code(2)
        .stderr(contains("several findings have ids that begin with"));
    cassini(here, &["triage", "set", "nothing", "bug"])
        .code(2)
        .stderr(contains("has no finding `nothing`"));
    cassini(here, &["triage", "set", &ids[2], "wrong"])
        .code(2)
        .stderr(contains("false-positive"));
    cassini(here, &["triage", "set", &ids[2], "intended"]).code(0);
    cassini(here, &["triage", "show", &ids[2]]).code(0).stdout(
        contains("judged: intended")
            .and(contains("a.c:20"))
            .and(contains(&ids[2])),
    );
    cassini(here, &["triage", "clear", &ids[2]]).code(0);
    cassini(here, &["triage", "clear", &ids[2]]).code(2);
    assert_eq!(column(here, "verdict"), ["open"; 3]);
    let arguments = ["triage", "list", "--rule", "lock", "--file", "b.c"];
    cassini(here, &arguments).code(0).stdout("");
}

#[test]
fn a_walk_takes_one_key_for_each_finding_from_a_pipe_too() {
    let tree = tree(&format!("{HEAD}{BODY}"));
    let here = tree.path();
    cassini(here, &["check", "."]).code(1);
    let walk = |keys: &str| {
        command(here, &["triage", "next"])
            .write_stdin(keys)
            .assert()
            .code(0)
    };
    walk("?sq")
        .stdout(contains("1 of 3").and(contains("2 of 3")))
        .stderr(contains("0 judged, 3 without"));
    walk("b\nFfor a reason\nu").stderr(contains("1 judged, 2 without a verdict"));
    walk("Fthe lock is another\nl").stderr(contains("2 judged, 0 without a verdict"));
    let mut verdicts = column(here, "verdict");
    verdicts.sort();
    assert_eq!(verdicts, ["bug", "false-positive", "later"]);
    assert!(column(here, "note").contains(&"the lock is another".to_owned()));
    let stats = json(cassini(here, &["triage", "stats", "--format", "json"]).code(0));
    let row = &stats[0];
    assert_eq!(row["rule"], "null/unchecked-result");
    assert_eq!(
        (&row["bug"], &row["false-positive"], &row["later"]),
        (&1.into(), &1.into(), &1.into())
    );
    assert_eq!(
        (&row["open"], &row["accuracy"]),
        (&0.into(), &"50 %".into())
    );
}

#[test]
fn verdicts_go_from_one_database_to_another_as_text() {
    let tree = tree(&format!("{HEAD}{BODY}"));
    let here = tree.path();
    cassini(here, &["check", "."]).code(1);
    let ids = column(here, "id");
    let hostile = "two\nlines \u{1b}[31m\ttab";
    cassini(
        here,
        &["triage", "set", &ids[0], "later", "--note", hostile],
    )
    .code(0);
    cassini(here, &["triage", "set", &ids[2], "bug"]).code(0);
    cassini(here, &["triage", "export", "verdicts.txt"]).code(0);
    let text = fs::read_to_string(here.join("verdicts.txt")).unwrap();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    fs::remove_dir_all(here.join(".cassini")).unwrap();
    cassini(here, &["check", "."]).code(1);
    assert_eq!(column(here, "verdict"), ["open"; 3]);
    cassini(here, &["triage", "import", "verdicts.txt"])
        .code(0)
        .stderr(contains("2 verdicts taken over"));
    assert_eq!(column(here, "verdict"), ["later", "open", "bug"]);
    assert_eq!(column(here, "note")[0], hostile);
    assert_eq!(stdout(cassini(here, &["triage", "export"])), text);
    fs::write(here.join("verdicts.txt"), format!("{text}<<<<<<< ours\n")).unwrap();
    cassini(here, &["triage", "import", "verdicts.txt"])
        .code(2)
        .stderr(contains("verdicts.txt: line 4: two versions were merged"));
}

#[test]
fn a_comment_silences_one_finding_and_is_told_if_it_silences_none() {
    let text = format!("{HEAD}{BODY}");
    let silenced = text.replacen(
        "\titem->key = again;\n",
        "\titem->key = again; // cassini: ignore null/unchecked-result because there is always room\n",
        1,
    );
    let silenced = silenced.replacen(
        "\titem->next",
        "\t/* cassini: ignore null/unchecked-result because\n\t * it is a test */\n\titem->next",
        1,
    );
    let tree = tree(&silenced);
    let here = tree.path();
    cassini(here, &["check", "."])
        .code(1)
        .stdout(contains("a.c:12:2").and(contains("a.c:9:").not()))
        .stderr(
            contains("1 finding; 2 left out by comments\n").and(contains("silences nothing").not()),
        );
    assert_eq!(column(here, "verdict"), ["ignored", "open", "ignored"]);
    assert_eq!(column(here, "note")[2], "it is a test");

    let useless = "\
int a; /* cassini: ignore null/unchecked-result because nothing is there */
int b; // cassini: ignore lock/dubble-lock because of a slip
int c; // cassini: ignore lock/double-lock
int d; // cassini: ignore heap/leak because it is not checked for now
char *e = \"// cassini: ignore lock/order because this is no comment\";
";
    fs::write(here.join("b.c"), useless).unwrap();
    cassini(here, &["check", "."]).code(1).stderr(
        contains("b.c:1: warning: this comment silences nothing: null/unchecked-result is not found in line 1\n")
            .and(contains("b.c:2: warning: there is no rule `lock/dubble-lock`"))
            .and(contains("did you mean lock/double-lock?\n"))
            .and(contains("b.c:3: warning: this comment gives no reason"))
            .and(contains("b.c:4").not())
            .and(contains("b.c:5").not()),
    );
}

#[test]
fn findings_are_listed_by_their_owners() {
    let tree = tree(&format!("{HEAD}{BODY}"));
    let here = tree.path();
    fs::create_dir(here.join("net")).unwrap();
    fs::write(here.join("net/b.c"), format!("{HEAD}{BODY}")).unwrap();
    cassini(here, &["check", "."]).code(1);
    let of = |owner: &str| {
        let arguments = ["triage", "list", "--owner", owner, "--format", "json"];
        let listed = json(cassini(here, &arguments).code(0));
        let rows = listed.as_array().unwrap().iter();
        let cells = rows.map(|row| format!("{} {}", row["file"], row["owner"]).replace('"', ""));
        let mut cells: Vec<String> = cells.collect();
        cells.dedup();
        cells
    };
    cassini(here, &["triage", "list", "--owner", "x"])
        .code(2)
        .stderr(contains("no CODEOWNERS and no MAINTAINERS"));
    let maintainers =
        "NET\nM:\tNora Net <n@x>\nF:\tnet/\n\nTHE REST\nM:\tRita <r@x>\nF:\t*\nF:\t*/\n";
    fs::write(here.join("MAINTAINERS"), maintainers).unwrap();
    assert_eq!(of("nora"), ["net/b.c Nora Net <n@x>"]);
    assert_eq!(of("r@x"), ["a.c Rita <r@x>"]);
    fs::write(here.join("CODEOWNERS"), "* @zed\n/net/ @net @both\n").unwrap();
    assert_eq!(of("@NET"), ["net/b.c @net, @both"]);
    assert_eq!(of("nora"), [""; 0]);
    let listed = json(
        cassini(
            here,
            &["triage", "list", "--by", "owner", "--format", "json"],
        )
        .code(0),
    );
    let files = listed.as_array().unwrap().iter().map(|row| &row["file"]);
    let mut files: Vec<&Value> = files.collect();
    files.dedup();
    assert_eq!(files, ["net/b.c", "a.c"]);
    let report = |format| json(cassini(here, &["report", "--format", format]).code(0));
    let owners = |finding: &Value| finding["owners"].clone();
    assert_eq!(
        owners(&report("json")["findings"][0]),
        serde_json::json!(["@zed"])
    );
    let result = &report("sarif")["runs"][0]["results"][0];
    assert_eq!(owners(&result["properties"]), serde_json::json!(["@zed"]));
}

#[test]
fn findings_are_listed_as_new_or_known() {
    let tree = tree(&format!("{HEAD}{BODY}"));
    let here = tree.path();
    cassini(here, &["check", ".", "--format", "json", "-o", "old.json"]).code(1);
    fs::write(here.join("b.c"), format!("{HEAD}{BODY}")).unwrap();
    cassini(here, &["check", ".", "-q"]).code(1);
    let files = |state: &[&str]| -> Vec<String> {
        let list = [
            "triage",
            "list",
            "--baseline",
            "old.json",
            "--format",
            "json",
        ];
        let listed = json(cassini(here, &[&list, state].concat()).code(0));
        let rows = listed.as_array().unwrap().iter();
        let mut cells: Vec<String> = rows
            .map(|row| format!("{} {}", row["file"], row["state"]).replace('"', ""))
            .collect();
        cells.dedup();
        cells
    };
    assert_eq!(files(&[]), ["a.c unchanged", "b.c new"]);
    assert_eq!(files(&["--state", "new"]), ["b.c new"]);
    assert_eq!(files(&["--state", "unchanged"]), ["a.c unchanged"]);
    cassini(here, &["triage", "list", "--state", "new"])
        .code(2)
        .stderr(contains("--baseline"));
}

#[test]
fn what_only_tests_have_comes_last() {
    let tree = tree("");
    let here = tree.path();
    for folder in ["a/tests", "z"] {
        fs::create_dir_all(here.join(folder)).unwrap();
    }
    // One in a folder of tests, one by its name, and one of the program.
    for file in ["a/tests/x.c", "b_test.c", "z/z.c"] {
        let text = format!("{HEAD}{BODY}").replace("once", &format!("once_{}", file.len()));
        fs::write(here.join(file), text).unwrap();
    }
    cassini(here, &["check", "."])
        .code(1)
        .stderr(contains("9 findings, the last 6 in tests\n"));
    let files = |arguments: &[&str], rows: fn(&Value) -> &Value| -> Vec<String> {
        let told = json(cassini(here, arguments).code(0));
        let rows = rows(&told).as_array().unwrap().iter();
        let mut files: Vec<String> = rows
            .map(|row| row["file"].as_str().unwrap().to_owned())
            .collect();
        files.dedup();
        files
    };
    let expected = ["z/z.c", "a/tests/x.c", "b_test.c"];
    let list = ["triage", "list", "--format", "json"];
    assert_eq!(files(&list, |told| told), expected);
    let report = ["report", "--format", "json"];
    assert_eq!(files(&report, |told| &told["findings"]), expected);
}
