//! Runs the real program on a tree that is hostile to those who read about it: bytes that are no text, terminal escapes and markup in a file's name,
//! in the source and in notes. All outputs show them, and none is obeyed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

const FILE: &[u8] = b"q\xff<script>\x1b[2J\"'&.c";
const NOTE: &str = "n<script>\u{1b}[31m\u{202e}";

const SOURCE: &[u8] = b"\
struct mutex { int word; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct queue { struct mutex lock; int length; };
int queue_add(struct queue *q, int many)
{
	mutex_lock(&q->lock); /* \xff\xfe\xc3 \x1b[2J <script>alert(1)</script> */
	if (many) /* \xff \x1b[31m */
		mutex_lock(&q->lock); /* \xf0\x9f \x1b]0;t\x07 </code><script> */
	mutex_unlock(&q->lock);
	return 0;
}
";

fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(OsStr::from_bytes(FILE)), SOURCE).unwrap();
    folder
}

/// What the program writes, which is text.
fn told(here: &Path, arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("cassini").expect("the binary is built for this test");
    let output = command.current_dir(here).args(arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_inert(&said, arguments);
    String::from_utf8(output.stdout).unwrap_or_else(|_| panic!("{arguments:?} writes no text"))
}

fn assert_inert(text: &str, of: &[&str]) {
    let obeyed = |c: char| (c.is_control() && !"\n\t".contains(c)) || c == '\u{202e}';
    assert!(!text.contains(obeyed), "{of:?} writes {text:?}");
}

#[test]
fn nothing_in_a_tree_or_a_note_is_obeyed() {
    let tree = tree();
    let here = tree.path();
    assert!(told(here, &["check", "."]).contains("lock/double-lock"));
    let listed = told(here, &["triage", "list", "--format", "json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    told(here, &["triage", "set", id, "bug", "--note", NOTE]);
    for format in ["text", "json", "sarif", "html", "markdown"] {
        let arguments = ["report", "--format", format];
        let text = told(here, &arguments);
        assert_inert(&text, &arguments);
        if ["html", "markdown"].contains(&format) {
            assert!(!text.contains("<script"), "{text}");
        }
        if ["json", "sarif"].contains(&format) {
            serde_json::from_str::<serde_json::Value>(&text).unwrap();
        }
    }
    for table in [
        &["triage", "list"][..],
        &["triage", "stats"],
        &["query", "lock", "lock"],
        &["query", "requires"],
        &["query", "callers", "mutex_lock"],
        &[
            "query",
            "sql",
            "SELECT * FROM findings JOIN verdicts USING (fingerprint)",
        ],
        &["query", "failures"],
    ] {
        for format in ["text", "json", "csv"] {
            let arguments = [table, &["--format", format]].concat();
            assert_inert(&told(here, &arguments), &arguments);
        }
    }
    for arguments in [
        &["triage", "show", id][..],
        &["triage", "export"],
        &["query", "function", "queue_add"],
        &["query", "spec", "queue_add"],
        &["query", "why", "x.c:9"],
    ] {
        assert_inert(&told(here, arguments), arguments);
    }
    // A file of verdicts that is no text is refused whole.
    fs::write(here.join("v.txt"), b"\xff\x1b[2J\n").unwrap();
    assert_eq!(told(here, &["triage", "import", "v.txt"]), "");
}
